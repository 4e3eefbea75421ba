import PushModel
import Support
import Testing

@testable import Storage

// Notifications with their notices, deferred devices, origins, limits and plans.
extension VersionContent {
    func expectNotifications(in store: any HubStore) async throws {
        let expected = try notifications
        let stored = try await store.notifications(before: nil, limit: 99)
        #expect(stored.map(\.sequence) == expected.reversed().map(\.sequence))
        for (notification, wanted) in zip(stored, expected.reversed()) { #expect(notification == wanted) }
        #expect(try await store.unfinished(after: 0, limit: 99) == expected.filter { !$0.outcome.state.isFinal })
        let first = expected[0]
        let key = IdempotencyKey(key: "order-1", fingerprint: [UInt8](repeating: 1, count: 32))
        #expect(try await store.acceptance(under: key) == .repeated(first))
    }

    /// The only notification of the second hub.
    func expectEnqueued(in store: any HubStore) async throws {
        let enqueued = StoredNotification(
            sequence: 41,
            request: NotificationRequest(audience: .device(.fcmV1(token: "fcm:token-1")), content: .template([:])),
            outcome: NotificationOutcome(id: Self.id(41), state: .enqueued, tags: nil, times: NotificationTimes(enqueuedAt: Self.at(42))))
        #expect(try await store.notifications(before: nil, limit: 9) == [enqueued])
        #expect(try await store.unfinished(after: 40, limit: 9) == [enqueued])
    }

    /// Of the first hub, in the order of their sequences.
    private var notifications: [StoredNotification] {
        get throws {
            var all = [try completed, try scheduled, withoutTarget, deferred, try exceeding, direct]
            if version >= .plans { all += [try planned, withoutPlan] }
            if version >= .heldRemovals { all.append(withHeldRemovals) }
            return all
        }
    }

    private static func template(_ message: String) -> NotificationContent { .template(["message": message]) }
    private static let advice = "most handles belong to the sandbox"

    private var completed: StoredNotification {
        get throws {
            let payloads: [Platform: NativePayload] = [
                .apns: NativePayload(body: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), headers: [PushHeader("apns-priority", "5")]),
                .wns: NativePayload(body: [0xff, 0x00]),
            ]
            let request = NotificationRequest(
                audience: try Self.audience("news && !muted"), content: .native(payloads),
                options: PushOptions(expiration: Self.at(3600), priority: .high, collapseID: "c-1"))
            var outcome = NotificationOutcome(
                id: Self.id(1), state: .completed, tags: "news && !muted",
                times: NotificationTimes(enqueuedAt: Self.at(20), startedAt: Self.at(21), endedAt: Self.at(23)),
                tally: DeviceTally(counts: [.apns: [.success: 1, .wrongToken: 1], .wns: [.skipped: 1]]))
            if version >= .remarks { outcome.tally.pruned = [.apns: ["Unregistered": 1]] }
            return StoredNotification(
                sequence: 1, request: request,
                idempotency: IdempotencyKey(key: "order-1", fingerprint: [UInt8](repeating: 1, count: 32)), outcome: outcome,
                origin: version >= .origins ? ["weather", "quiet"] : [])
        }
    }

    private var scheduled: StoredNotification {
        get throws {
            var request = NotificationRequest(
                audience: try Self.audience("news"), content: .template(["message": "Good morning", "é": "ü"]),
                pace: try version >= .payloadKeys ? Pace("200/s") : nil)
            if version >= .plans {
                request.approvedReach = ApprovedReach(devices: 1000, basis: .ceiling(of: .key("sender", hub: "hub")))
            }
            return StoredNotification(
                sequence: 2, request: request,
                outcome: NotificationOutcome(
                    id: Self.id(2), state: .scheduled, tags: "news",
                    times: NotificationTimes(enqueuedAt: Self.at(30), scheduledFor: Self.at(86_400))))
        }
    }

    private var withoutTarget: StoredNotification {
        StoredNotification(
            sequence: 3, request: NotificationRequest(audience: .everyone, content: .template(["a": "b"])),
            outcome: NotificationOutcome(
                id: Self.id(3), state: .noTargetFound, tags: nil,
                times: NotificationTimes(enqueuedAt: Self.at(31), startedAt: Self.at(31), endedAt: Self.at(32)),
                nearMisses: [#"no registration has the tag "x""#]))
    }

    /// In progress, with devices that hooks deferred. Versions before `plugins` had no hooks.
    private var deferred: StoredNotification {
        let payloads: [Platform: NativePayload] = [
            .apns: NativePayload(body: Array("{}".utf8)), .wns: NativePayload(body: Array("<tile/>".utf8)),
            .browser: NativePayload(body: Array("{}".utf8)), .baidu: NativePayload(body: Array("{}".utf8)),
        ]
        var outcome = NotificationOutcome(
            id: Self.id(4), state: .processing, tags: nil, times: NotificationTimes(enqueuedAt: Self.at(40), startedAt: Self.at(41)),
            tally: DeviceTally(counts: [.browser: [.success: 1]]))
        if version >= .remarks { outcome.notices = [.text("APNs: \(Self.advice)")] }
        if version >= .plugins {
            outcome.notices += [
                .deferred(devices: 1, until: Self.at(7200), reason: "quiet: until nine"),
                .deferred(devices: 2, until: Self.at(10_800), reason: "long"),
            ]
        }
        return StoredNotification(
            sequence: 4, request: NotificationRequest(audience: .everyone, content: .native(payloads)), outcome: outcome,
            deferredDevices: deferredDevices)
    }

    private var deferredDevices: DeferredDevices {
        var devices = DeferredDevices()
        guard version >= .unmarkedDevices else { return devices }
        devices.add(RowSet([1]), on: .apns, until: Self.at(7200), HookReason(plugin: "quiet", reason: "until nine"))
        devices.add(RowSet([6]), on: .baidu, until: Self.at(10_800), HookReason(plugin: nil, reason: "long"))
        devices.add(RowSet([3]), on: .wns, until: Self.at(10_800), HookReason(plugin: nil, reason: "long"))
        let marks: [UInt32: UInt32] = [1: 0x1234, 3: 0xfedc_ba98, 6: 7]
        if version >= .deferredDevices { devices.note { marks[$0] ?? 0 } }
        return devices
    }

    /// Abandoned, because it would have reached more devices than approved. Versions before `plans` had no such limit.
    private var exceeding: StoredNotification {
        get throws {
            var request = NotificationRequest(audience: try Self.audience("news"), content: Self.template("Final score"))
            var outcome = NotificationOutcome(
                id: Self.id(5), state: .canceled, tags: "news",
                times: NotificationTimes(enqueuedAt: Self.at(50), scheduledFor: Self.at(60), endedAt: Self.at(60)))
            if version >= .plans {
                let reach = ApprovedReach(devices: 17, basis: .approval("a-4"))
                request.approvedReach = reach
                outcome.state = .abandoned
                outcome.notices = [.exceededApproval(reach: 1230, reach)]
            }
            return StoredNotification(sequence: 5, request: request, outcome: outcome)
        }
    }

    /// A test send to handles.
    private var direct: StoredNotification {
        StoredNotification(
            sequence: 6,
            request: NotificationRequest(
                audience: .devices([.phone(1), .subscription, Self.baidu]),
                content: .native([.apns: NativePayload(body: Array("{}".utf8))]), isTest: true),
            outcome: NotificationOutcome(
                id: Self.id(6), state: .detailedStateAvailable, tags: nil,
                times: NotificationTimes(enqueuedAt: Self.at(70), startedAt: Self.at(70), endedAt: Self.at(71)),
                tally: DeviceTally(counts: [.apns: [.success: 1], .browser: [.pnsUnavailable: 1], .baidu: [.invalidCredentials: 1]])))
    }

    private var planned: StoredNotification {
        get throws {
            StoredNotification(
                sequence: 7,
                request: NotificationRequest(
                    audience: try Self.audience("news"), content: Self.template("Final score"),
                    plan: PlanBinding("p-0001", tolerance: .share(hundredths: 200))),
                idempotency: IdempotencyKey(key: "plan-7", fingerprint: [UInt8](repeating: 7, count: 32)),
                outcome: NotificationOutcome(
                    id: Self.id(7), state: .scheduled, tags: "news",
                    times: NotificationTimes(enqueuedAt: Self.at(80), scheduledFor: Self.at(172_800))))
        }
    }

    /// Abandoned, because its plan could not be read.
    private var withoutPlan: StoredNotification {
        var outcome = NotificationOutcome(
            id: Self.id(8), state: .abandoned, tags: nil,
            times: NotificationTimes(enqueuedAt: Self.at(81), scheduledFor: Self.at(82), startedAt: Self.at(82), endedAt: Self.at(82)))
        outcome.notices = [.planLost(plan: "p-0009")]
        return StoredNotification(
            sequence: 8,
            request: NotificationRequest(audience: .everyone, content: .template(["a": "b"]), plan: PlanBinding("p-0009")),
            outcome: outcome)
    }

    /// Its notices stay text if a version before `notices` wrote them.
    private var withHeldRemovals: StoredNotification {
        var outcome = NotificationOutcome(
            id: Self.id(9), state: .completed, tags: nil,
            times: NotificationTimes(enqueuedAt: Self.at(90), startedAt: Self.at(91), endedAt: Self.at(92)))
        outcome.notices =
            version >= .notices
            ? [.heldRemovals(percent: 20), .wrongEnvironment(.apns, advice: Self.advice)]
            : [
                .text(
                    "push services called the tokens of more than 20 % of the audience invalid: "
                        + "further removals are held (feedback.max_removed_share)"), .text("APNs: \(Self.advice)"),
            ]
        return StoredNotification(
            sequence: 9, request: NotificationRequest(audience: .everyone, content: .template(["a": "b"])), outcome: outcome)
    }
}
