import PushModel
import Support
import Testing

/// The contract of ``HubGateway`` for notifications.
@Suite struct SendContractTests {
    private static let fcm = DeviceHandle.fcmV1(token: "token-of-a-phone")

    @Test(arguments: HubSide.allCases)
    func `A send reaches matching devices on every platform, and is counted`(side: HubSide) async throws {
        try await side.run { bench in
            let ids = [try await bench.register(.phone(1), "a").id, try await bench.register(Self.fcm, "a", "b").id]
            _ = try await bench.register(.phone(3), "c")
            let outcome = try await bench.hub.send(.alert("Hello <&>", to: "a && !c"))
            #expect(outcome.state == .completed && outcome.sent == 2 && outcome.failed == 0 && outcome.tags == "a && !c")
            #expect(outcome.counts == [.apns: [.success: 1], .fcmV1: [.success: 1]])
            #expect(Set(bench.connector.batches.flatMap(\.handles)) == [.phone(1), Self.fcm])
            guard side != .azure else { return }
            #expect(Set(outcome.devices.map(\.registrationID)) == Set(ids))
            #expect(Set(outcome.devices.map(\.handle)) == [.phone(1), Self.fcm])
        }
    }

    @Test(arguments: HubSide.allCases)
    func `A send without recipients has an outcome, not an error`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "Sports")
            let outcome = try await bench.hub.send(.alert(to: "Sport"))
            #expect(outcome.state == .noTargetFound && outcome.sent == 0 && outcome.failed == 0)
            if side != .azure { #expect(outcome.nearMisses.contains { $0.contains("Sports") }) }
        }
    }

    @Test(arguments: HubSide.allCases)
    func `A template is filled for each device, and options are applied`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "a", template: #"{"aps":{"alert":"$(news)"}}"#)
            var request = try NotificationRequest.properties(["news": "Größe \"7\""], to: "a")
            request.options.expiration = bench.clock.now + .seconds(60)
            let outcome = try await bench.hub.send(request)
            #expect(outcome.sent == 1)
            #expect(bench.connector.bodies == [#"{"aps":{"alert":"Größe \"7\""}}"#])
            #expect(bench.connector.batches.first?.options.expiration == bench.clock.now + .seconds(60))
        }
    }

    @Test(arguments: [HubSide.embedded, .pushHost, .pushHostJSON])
    func `Priority and collapse id are applied to templates too`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "a", template: #"{"aps":{"alert":"$(news)"}}"#)
            var request = try NotificationRequest.properties(["news": "x"], to: "a")
            request.options = PushOptions(priority: .low, collapseID: "c1")
            #expect(try await bench.hub.send(request).sent == 1)
            #expect(bench.connector.batches.first?.options == PushOptions(priority: .low, collapseID: "c1"))
        }
    }

    @Test func `Features that Azure lacks are refused before anything is sent`() async throws {
        try await HubSide.azure.run { bench in
            var request = try NotificationRequest.properties(["news": "x"], to: "a")
            request.options.collapseID = "c1"
            let error = await refusal { try await bench.hub.send(request) }
            #expect(error?.code == "target.unsupported")
        }
    }

    @Test(arguments: HubSide.allCases)
    func `Direct sends reach devices without a registration, one or many`(side: HubSide) async throws {
        try await side.run { bench in
            let payloads: [Platform: NativePayload] = [.apns: NativePayload(body: Array(#"{"aps":{"alert":"x"}}"#.utf8))]
            let one = try await bench.hub.send(NotificationRequest(audience: .device(.phone(1)), content: .native(payloads)))
            #expect(one.sent == 1)
            let many = try await bench.hub.send(
                NotificationRequest(audience: .devices((2...30).map { .phone($0) }), content: .native(payloads)))
            #expect(many.sent == 29)
            #expect(Set(bench.connector.batches.flatMap(\.handles)).count == 30)
            let browser = try await bench.hub.send(
                NotificationRequest(
                    audience: .device(.subscription), content: .native([.browser: NativePayload(body: Array("hello".utf8))])))
            #expect(browser.sent == 1 && bench.connector.batches.last?.handles == [.subscription])
        }
    }

    @Test(arguments: HubSide.allCases)
    func `A broadcast goes to everyone`(side: HubSide) async throws {
        try await side.run { bench in
            for number in 1...3 { _ = try await bench.register(.phone(number), "t\(number)") }
            let outcome = try await bench.hub.send(.alert())
            #expect(outcome.sent == 3 && outcome.tags == nil)
        }
    }

    @Test(arguments: HubSide.allCases)
    func `A test send returns a result per device`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "a")
            _ = try await bench.register(.phone(2), "a")
            bench.connector.script(.phone(2), .rejected(.invalidHandle()))
            var request = try NotificationRequest.alert(to: "a")
            request.isTest = true
            let outcome = try await bench.hub.send(request)
            #expect(outcome.state == .detailedStateAvailable && outcome.sent == 1 && outcome.failed == 1)
            let handles = Dictionary(uniqueKeysWithValues: outcome.devices.map { ($0.handle, $0) })
            #expect(handles[.phone(1)]?.outcome == .success)
            guard side != .azure else {
                #expect(handles[.phone(2)]?.outcome == .badChannel)
                return
            }
            #expect(handles[.phone(2)]?.outcome == .expiredChannel && handles[.phone(2)]?.reason == "Unregistered")
            #expect(handles[.phone(2)]?.isRegistrationRemoved == true)
        }
    }

    @Test(arguments: HubSide.allCases)
    func `A scheduled notification waits, and can be cancelled`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "a", template: #"{"aps":{"alert":"$(news)"}}"#)
            let dueTime = bench.clock.now + .seconds(3600)
            let scheduled = try await bench.hub.schedule(.properties(["news": "x"], to: "a"), at: dueTime)
            #expect(scheduled.state == .scheduled && scheduled.scheduledFor == dueTime)
            #expect(try await bench.hub.outcome(of: scheduled.id).state == .scheduled)
            try await bench.hub.cancel(notification: scheduled.id)
            #expect(try await bench.hub.outcome(of: scheduled.id).state == .canceled)
            #expect(await refusal { try await bench.hub.cancel(notification: scheduled.id) }?.code == "notification.not_found")
            #expect(await refusal { try await bench.hub.outcome(of: "n-none") }?.code == "notification.not_found")
            let far = await refusal {
                try await bench.hub.schedule(.properties(["news": "x"], to: "a"), at: dueTime + .seconds(8 * 86_400))
            }
            #expect(far?.code == "time.too_far" && far?.status == 400)
        }
    }

    @Test(arguments: HubSide.allCases)
    func `Content that no device could receive is refused before sending`(side: HubSide) async throws {
        try await side.run { bench in
            let large = String(repeating: "x", count: 5000)
            let error = await refusal { try await bench.hub.send(.alert(large, to: "a")) }
            #expect(error?.code == "payload.too_large" && error?.status == 413)
            #expect(bench.connector.batches.isEmpty)
        }
    }
}
