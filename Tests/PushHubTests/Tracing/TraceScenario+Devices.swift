import PushHub
import PushModel
import Support
import Testing

// Scenarios about the device, the audience and the content.
extension TraceScenario {
    static let devices: [TraceScenario] = [
        TraceScenario(.notRegistered, "f81d4fae is not registered with this hub, and no record shows that it ever was.") {
            bench in
            try await bench.install(tags: ["sports"])
            return (try await bench.send(.alert(to: "sports")), "f81d4fae")
        },
        TraceScenario(
            .registeredLater, "alice-1 registered at 2026-01-05 10:00:00 UTC, after the notification was sent at 2026-01-05 09:00:00 UTC."
        ) { bench in
            let id = try await bench.send(.alert(to: "sports"))
            bench.hub.advance(by: .seconds(3600))
            try await bench.install(tags: ["sports"])
            return (id, "alice-1")
        },
        TraceScenario(
            .registrationExpired, "The registration of alice-1 expired at 2026-01-05 10:00:00 UTC, so there was no device to send to.",
            ttl: .seconds(3600)
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.hub.advance(by: .seconds(7200))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .registrationDeleted, "The registration of alice-1 was deleted at 2026-01-05 09:01:00 UTC, so there was no device to send to."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.hub.advance(by: .seconds(60))
            try await bench.hub.hub.deleteInstallation("alice-1")
            bench.hub.advance(by: .seconds(60))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .registrationLeft,
            "alice-1 was removed from the hub at 2026-01-05 09:01:00 UTC, after the notification was sent, and its registration is "
                + "no longer stored."
        ) { bench in
            try await bench.install(tags: ["chess"])
            let id = try await bench.send(.alert(to: "sports"))
            bench.hub.advance(by: .seconds(60))
            try await bench.hub.hub.deleteInstallation("alice-1")
            return (id, "alice-1")
        },
        TraceScenario(
            .tokenDead,
            "alice-1 was removed from the hub at 2026-01-05 09:00:00 UTC because APNs reported its address as invalid (Unregistered)."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.rejected(.invalidHandle()))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(
            .tokenDead,
            "alice-1 was removed from the hub at 2026-01-05 09:00:00 UTC because APNs reported its address as invalid (Unregistered)."
        ) { bench in
            try await bench.install(tags: ["sports"])
            bench.answer(.rejected(.invalidHandle()))
            _ = try await bench.send(.alert(to: "sports"))
            bench.hub.advance(by: .seconds(60))
            return (try await bench.send(.alert(to: "sports")), "alice-1")
        },
        TraceScenario(.tagMissing, "The notification was for \"sports && !quiet\", and alice-1 does not have the tag \"sports\".") {
            bench in
            try await bench.install(tags: ["chess"])
            return (try await bench.send(.alert(to: "sports && !quiet")), "alice-1")
        },
        TraceScenario(
            .tagMissing,
            "The notification was for \"(sports || science) && phone\", and alice-1 does not have the tag \"sports\" or \"science\"."
        ) { bench in
            try await bench.install(tags: ["phone"])
            return (try await bench.send(.alert(to: "(sports || science) && phone")), "alice-1")
        },
        TraceScenario(
            .tagPresent, "The notification was for \"sports && !quiet\", which leaves out alice-1 because it has the tag \"quiet\"."
        ) { bench in
            try await bench.install(tags: ["sports", "quiet"])
            return (try await bench.send(.alert(to: "sports && !quiet")), "alice-1")
        },
        TraceScenario(
            .tagsChanged,
            "alice-1 did not get it, and would now: its registration was changed at 2026-01-05 09:01:00 UTC, after the notification was sent."
        ) { bench in
            try await bench.install(tags: ["chess"])
            let id = try await bench.send(.alert(to: "sports"))
            bench.hub.advance(by: .seconds(60))
            try await bench.install(tags: ["sports"])
            return (id, "alice-1")
        },
        TraceScenario(.wrongPlatform, "The notification has nothing for APNs, and alice-1 is reached only through APNs.") { bench in
            try await bench.install(tags: ["sports"])
            let payload = NativePayload(body: Array(#"{"notification":{"body":"Hi"}}"#.utf8))
            let request = NotificationRequest(audience: .expression(.tag(try Tag("sports"))), content: .native([.fcmV1: payload]))
            return (try await bench.send(request), "alice-1")
        },
        TraceScenario(.needsTemplate, "The notification fills in templates, and alice-1 registered without a template.") { bench in
            try await bench.install(tags: ["sports"])
            return (try await bench.send(.properties(["text": "Hi"], to: "sports")), "alice-1")
        },
        TraceScenario(
            .needsNative, "The notification is for registrations without a template, and 000000…0001 registered with one."
        ) { bench in
            try await bench.hub.register(.phone(1), tags: ["sports"], template: #"{"aps":{"alert":"$(text)"}}"#)
            return (try await bench.send(.alert(to: "sports")), DeviceHandle.phone(1).text)
        },
        TraceScenario(.notAddressed, "The notification was sent directly to 2 devices, and alice-1 is not among them.") { bench in
            try await bench.install()
            var request = try NotificationRequest.alert()
            request.audience = .devices([.phone(2), .phone(3)])
            return (try await bench.send(request), "alice-1")
        },
        TraceScenario(
            .duplicate,
            "1000000000000000002-1000000000000000002-1 is registered twice with the same address, and the notification went out through the "
                + "other one, 1000000000000000001-1000000000000000001-1."
        ) { bench in
            for number in 1...2 {
                let id = try #require(RegistrationID("100000000000000000\(number)-100000000000000000\(number)-1"))
                _ = try await bench.hub.hub.putRegistration(
                    id, RegistrationDescription(handle: .phone(1), tags: [try Tag("sports")]), ifMatch: nil)
            }
            return (try await bench.send(.alert(to: "sports")), "1000000000000000002-1000000000000000002-1")
        },
        TraceScenario(
            .registrationReplaced,
            "The registration of DEVICE was removed at 2026-01-05 09:01:00 UTC by a change of its installation, so there was no device to "
                + "send to."
        ) { bench in
            try await bench.install(
                tags: ["sports"], templates: ["news": InstallationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#)])
            let registration = try #require(try await bench.hub.hub.allRegistrations(.all).first { $0.template != nil })
            bench.hub.advance(by: .seconds(60))
            try await bench.install(tags: ["sports"])
            bench.hub.advance(by: .seconds(60))
            return (try await bench.send(.properties(["text": "Hi"], to: "sports")), registration.id.text)
        },
        TraceScenario(
            .propertyMissing, "The template of alice-1 shows \"text\", which the notification does not have, so there was no text to show."
        ) { bench in
            try await bench.install(
                tags: ["sports"], templates: ["news": InstallationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#)])
            return (try await bench.send(.properties(["headline": "Hi"], to: "sports")), "alice-1")
        },
        TraceScenario(.payloadTooLarge, "For alice-1 the notification has 5020 bytes, and APNs accepts at most 4096.") { bench in
            try await bench.install(
                tags: ["sports"], templates: ["news": InstallationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#)])
            let text = String(repeating: "x", count: 5000)
            return (try await bench.send(.properties(["text": text], to: "sports")), "alice-1")
        },
    ]
}
