import PushHub
import PushModel
import Support
import Synchronization
import Testing

// Scenarios about plugins, time and push services.
extension TraceScenario {
    static let delivery: [TraceScenario] = [
        TraceScenario(.vetoed, "The plugin quiet blocked it for alice-1: not on Sundays.") { bench in
            try await bench.install(tags: ["sports"])
            bench.hooks.beforeDelivering { group in
                _ = await group.rule([DeliveryRuling(devices: .all, decision: .skip, plugin: "quiet", reason: "not on Sundays")])
            }
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .hookFailed, "A plugin that decides about alice-1 failed, so it was not sent: the plugin quiet did not answer."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.hooks.beforeDelivering { _ throws(PushError) in throw PushError("plugin.failed", "the plugin quiet did not answer") }
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.held, "The plugin quiet deferred it for alice-1 until 2026-01-05 10:00:00 UTC: at night.") { bench in
            try await bench.install(tags: ["sports"])
            try bench.hooks.hold("sports", until: HubBench.startTime + .seconds(3600))
            let id = try await bench.accept(.alert(to: "sports"))
            try await until { try await bench.hub.store.notification(1)?.deferredDevices.isEmpty == false }
            return (id, "alice-1")
        },
        TraceScenario(.scheduled, "The notification is scheduled for 2026-01-05 10:00:00 UTC.") { bench in
            try await bench.install(tags: ["sports"])
            return (try await bench.accept(.alert(to: "sports"), at: HubBench.startTime + .seconds(3600)), "alice-1")
        },
        TraceScenario(
            .audienceGrown,
            "When the notification was due, it would have reached 2 devices, more than the limit of 1 for key:ops, so "
                + "it was not sent."
        ) { bench in
            try await bench.install(tags: ["sports"])
            let leave = ApprovedReach(devices: 1, basis: .ceiling(of: .key("ops", hub: nil)))
            let time = HubBench.startTime + .seconds(3600)
            let id = try await bench.hub.hub.accept(
                .alert(to: "sports"), at: time, admission: SendAdmission { _, _, _ in .admitted(leave) }
            ).outcome.id
            try await bench.install("alice-2", .phone(2), tags: ["sports"])
            bench.hub.clock.advance(to: time)
            try await until { try await bench.hub.hub.notification(id).outcome.state.isFinal }
            return (id, "alice-1")
        },
        TraceScenario(
            .paced, "The notification is sent at 1 device an hour, and will reach alice-3 at about 2026-01-05 11:00:00 UTC."
        ) { bench in
            for number in 1...3 { try await bench.install("alice-\(number)", .phone(number), tags: ["sports"]) }
            var request = try NotificationRequest.alert(to: "sports")
            request.pace = try Pace("1/h")
            let id = try await bench.accept(request)
            try await bench.hub.untilSomebodySleeps()
            return (id, "alice-3")
        },
        TraceScenario(.waiting, "The notification is in progress and has not been sent to alice-1 yet.") { bench in
            try await bench.install(tags: ["sports"])
            bench.hub.connector.during { _ in while !Task.isCancelled { await Task.yield() } }
            let id = try await bench.accept(.alert(to: "sports"))
            try await until { !bench.hub.connector.batches.isEmpty }
            return (id, "alice-1")
        },
        TraceScenario(.cancelled, "The notification was cancelled at 2026-01-05 09:01:00 UTC, before it was sent to alice-1.") { bench in
            try await bench.install(tags: ["sports"])
            let id = try await bench.accept(.alert(to: "sports"), at: HubBench.startTime + .seconds(3600))
            bench.hub.advance(by: .seconds(60))
            try await bench.hub.hub.cancel(notification: id)
            return (id, "alice-1")
        },
        TraceScenario(
            .abandoned,
            "The delivery ended at 2026-01-05 09:00:00 UTC, before the notification was sent to alice-1: the connector gave no answer."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.hub.connector.fallSilent()
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.expired, "The notification expired at 2026-01-05 09:00:30 UTC, before it was sent to alice-2.") { bench in
            for number in 1...2 { try await bench.install("alice-\(number)", .phone(number), tags: ["sports"]) }
            var request = try NotificationRequest.alert(to: "sports")
            request.pace = try Pace("1/m")
            request.options.expiration = HubBench.startTime + .seconds(30)
            return (try await bench.send(request), "alice-2")
        },
        TraceScenario(
            .notDrawn, "It was a test send, which reaches ten of the 11 matching devices, chosen at random, and DEVICE was not chosen."
        ) { bench in
            for number in 1...11 { try await bench.install("alice-\(number)", .phone(number), tags: ["sports"]) }
            var request = try NotificationRequest.alert(to: "sports")
            request.isTest = true
            let id = try await bench.send(request)
            let drawn = Set(try await bench.hub.hub.outcome(of: id).devices.compactMap(\.installationID))
            return (id, try #require((1...11).map { "alice-\($0)" }.first { !drawn.contains($0) }))
        },
        TraceScenario(.circuitOpen, "APNs does not respond; the next attempt for alice-1 is at 2026-01-05 09:00:05 UTC.") { bench in
            for number in 1...20 {
                try await bench.install("alice-\(number)", .phone(number), tags: ["sports"])
                bench.answer(.transient(.busy, retryAfter: nil), .phone(number))
            }
            let id = try await bench.accept(.alert(to: "sports"))
            try await bench.hub.untilSomebodySleeps()
            return (id, "alice-1")
        },
        TraceScenario(
            .credentialBlocked,
            "APNs rejects the hub's credential (TooManyProviderTokenUpdates); the next attempt for alice-1 is at "
                + "2026-01-05 09:00:05 UTC: too many tokens."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.transient(.blocked, retryAfter: nil))
            let id = try await bench.accept(.alert(to: "sports"))
            try await bench.hub.untilSomebodySleeps()
            return (id, "alice-1")
        },
        TraceScenario(
            .serviceInTrouble,
            "APNs failed repeatedly, so the delivery to alice-1 was given up (ServiceUnavailable): the service is busy."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.transient(.busy, retryAfter: nil))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .throttled, "APNs throttled the notification repeatedly, so the delivery to alice-1 was given up (TooManyRequests)."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.transient(.tooMany, retryAfter: nil))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.noAnswer, "APNs never responded, so it is unknown whether alice-1 got it.") { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.unknown(reason: "the connection broke"))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .noCredentials, "The hub has no credentials for APNs, the only way to reach alice-1.", platforms: [.fcmV1]
        ) { bench in
            try await bench.install(tags: ["sports"])
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .credentialsRefused, "APNs rejects the hub's credentials (InvalidProviderToken): check team id and key."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.rejected(.refusal("InvalidProviderToken", .invalidCredentials, "check team id and key")))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .otherEnvironment,
            "The address of alice-1 does not belong to the app or environment that the hub sends to through APNs (BadDeviceToken)."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.rejected(.refusal("BadDeviceToken", .badChannel, "production against development")))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.labFull, "APNs is simulated, and its lab has reached its limit of phones, so nothing reached alice-1.") { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.rejected(.refusal(Rejection.labFullReason, .pnsUnavailable, "no room")))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.rejected, "APNs rejected the notification for alice-1 (BadTopic): use the app's bundle id.") { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.rejected(.refusal("BadTopic", .pnsInterfaceError, "use the app's bundle id")))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .accepted,
            "APNs accepted it for alice-1 at 2026-01-05 09:00:00 UTC; what a real phone does with it is known only to the phone."
        ) { bench in
            try await bench.install(tags: ["sports"])
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.unexplained, "No record shows what happened to it on the way to alice-1.") { bench in
            try await bench.install(tags: ["sports"])
            // A test send whose process crashed. Its caller is gone, so it is not sent again.
            var request = try NotificationRequest.alert(to: "sports")
            request.isTest = true
            let outcome = NotificationOutcome(
                id: "n-0001", state: .processing, tags: "sports", times: NotificationTimes(enqueuedAt: HubBench.startTime))
            _ = try await bench.hub.store.accept(StoredNotification(sequence: 1, request: request, outcome: outcome))
            try await bench.hub.hub.resume()
            return ("n-0001", "alice-1")
        },
    ]

    static let all = devices + delivery + plans
}
