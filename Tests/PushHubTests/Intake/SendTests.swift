import PushHub
import PushModel
import Support
import Testing

@Suite struct SendTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }
    private static let alert = #"{"aps":{"alert":"$(message)"}}"#

    init() throws { bench = try HubBench() }

    // MARK: - Outcome

    @Test("An outcome has state, times, counts and a row per device, and can be read again") func outcome()
        async throws
    {
        let first = try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.gcm(token: "t"), tags: ["a"])
        bench.connector.script(
            .gcm(token: "t"),
            .rejected(Rejection(status: 400, reason: "InvalidParameters", explanation: "why", outcome: .wrongToken)))
        let outcome = try await bench.send("Hello", to: "a")
        #expect(outcome.id == "n-0001")
        #expect(outcome.state == .completed)
        #expect(outcome.tags == "a")
        #expect(outcome.sent == 1 && outcome.failed == 1)
        #expect(outcome.counts == [.apns: [.success: 1], .gcm: [.wrongToken: 1]])
        #expect(
            [outcome.enqueuedAt, outcome.startedAt, outcome.endedAt] == [HubBench.startTime, HubBench.startTime, HubBench.startTime])
        let row = try #require(outcome.devices.first)
        #expect(row.registrationID == first.id && row.platform == .apns && row.handle == .phone(1))
        #expect(row.pushID == "push-1" && row.reason == "" && row.size == 25 && !row.isRegistrationRemoved)
        #expect(outcome.devices[1].reason == "InvalidParameters" && outcome.devices[1].explanation == "why")
        #expect(try await hub.outcome(of: outcome.id) == outcome)
    }

    @Test("An unknown id is rejected, with the nearest one as a suggestion") func unknownOutcome() async throws {
        try await bench.register(.phone(1))
        try await bench.send(to: nil)
        let error = await refusal { try await hub.outcome(of: "n-0002") }
        #expect(error?.code == "notification.not_found")
        #expect(error?.message == "unknown notification \"n-0002\"")
        #expect(error?.hint == "did you mean \"n-0001\"?")
        #expect(error?.status == 404)
    }

    @Test("Results are in the order of registration, whatever their platform or group") func order() async throws {
        let handles: [DeviceHandle] = [
            .phone(1), .gcm(token: "a"), .phone(2), .fcmV1(token: "b"), .gcm(token: "c"), .phone(3),
        ]
        for handle in handles { try await bench.register(handle) }
        #expect(try await bench.send(to: nil).devices.map(\.handle) == handles)
        #expect(bench.connector.batches.map(\.platform) == [.apns, .gcm, .fcmV1])
        #expect(bench.connector.batches.first?.handles == [.phone(1), .phone(2), .phone(3)])
    }

    @Test("The same events give the same sends") func determinism() async throws {
        func history() async throws -> ([NotificationOutcome], [String], [CoreEvent]) {
            let bench = try HubBench()
            for number in 0..<40 {
                try await bench.register(
                    number % 2 == 0 ? .phone(number) : .gcm(token: "t\(number)"),
                    tags: ["a", "u\(number)", "b\(number % 3)"],
                    template: number % 5 == 0 ? #"{"x":"$(name)","y":"$(m)"}"# : nil,
                    pushVariables: ["name": "n\(number % 4)"])
            }
            var outcomes: [NotificationOutcome] = []
            for expression in ["a", "b1 || b2", "!(b0 && a)", "u77", "nobody"] {
                outcomes.append(try await bench.send(to: expression))
                outcomes.append(try await bench.hub.send(.properties(["m": "x"], to: expression)))
            }
            return (outcomes, bench.connector.bodies, bench.events)
        }
        let (first, second) = (try await history(), try await history())
        #expect(first.0 == second.0)
        #expect(first.1 == second.1)
        #expect(first.2 == second.2)
    }

    // MARK: - Audience

    @Test("An expression selects the devices, with Azure's precedence")
    func expressions() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["b", "c"])
        try await bench.register(.phone(3), tags: ["c"])
        func reached(_ expression: String?) async throws -> [DeviceHandle] {
            try await bench.send(to: expression).devices.map(\.handle)
        }
        #expect(try await reached("a || b && c") == [.phone(1), .phone(2)])
        #expect(try await reached("(a || b) && c") == [.phone(2)])
        #expect(try await reached("!a && c") == [.phone(2), .phone(3)])
        #expect(try await reached("C") == [.phone(2), .phone(3)])
        #expect(try await reached(nil) == [.phone(1), .phone(2), .phone(3)])
        #expect(try await bench.send(to: "( A||b )").tags == "A || b")
        #expect(try await bench.send(to: nil).tags == nil)
    }

    @Test("An expression with more tags than Azure accepts is sent too") func manyTags() async throws {
        try await bench.register(.phone(1), tags: ["t30"])
        #expect(try await bench.send(to: (1...30).map { "t\($0)" }.joined(separator: " || ")).sent == 1)
    }

    @Test("Native content reaches native registrations of its platforms, properties reach templates") func kinds()
        async throws
    {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["a"], template: Self.alert)
        try await bench.register(.gcm(token: "t"), tags: ["a"])
        let apns = NotificationRequest(
            audience: .everyone, content: .native([.apns: NativePayload(body: Array("{}".utf8))]))
        #expect(try await hub.send(apns).devices.map(\.handle) == [.phone(1)])
        let template = try await hub.send(.properties(["message": "Hi \"you\""], to: "a"))
        #expect(template.devices.map(\.handle) == [.phone(2)])
        #expect(bench.connector.bodies.last == #"{"aps":{"alert":"Hi \"you\""}}"#)
    }

    @Test("A direct send needs no registration and no tags") func direct() async throws {
        let request = NotificationRequest(
            audience: .device(.apns(token: "abcd")),
            content: .native(AlertPayloads.system(title: nil, text: "Hi")), options: PushOptions(collapseID: "c"))
        let outcome = try await hub.send(request)
        #expect(outcome.sent == 1 && outcome.tags == nil)
        #expect(outcome.devices[0].registrationID == nil && outcome.devices[0].handle == .apns(token: "ABCD"))
        #expect(bench.connector.batches[0].options.collapseID == "c")
        #expect(bench.connector.batches[0].notificationID == outcome.id)
    }

    @Test("A direct send needs native content, a payload for the platform, and a valid handle") func badDirect()
        async throws
    {
        func direct(_ handle: DeviceHandle, _ content: NotificationContent) async -> PushError? {
            await refusal { try await hub.send(NotificationRequest(audience: .device(handle), content: content)) }
        }
        let template = await direct(.phone(1), .template(["a": "b"]))
        #expect(template?.code == "payload.template_direct")
        let platform = await direct(.phone(1), .native([.gcm: NativePayload(body: Array("{}".utf8))]))
        #expect(platform?.code == "payload.no_platform")
        #expect(platform?.message == "the device is on APNs, for which there is no payload")
        let handle = await direct(.apns(token: "x"), .native([.apns: NativePayload(body: Array("{}".utf8))]))
        #expect(handle?.code == "handle.invalid")
        #expect(bench.connector.batches.isEmpty)
    }

    @Test("A handle gets the same content once, and the second registration is skipped") func duplicates() async throws {
        let first = try await bench.register(.phone(1), tags: ["a"])
        let second = try await bench.register(.phone(1), tags: ["a"])
        let outcome = try await bench.send(to: "a")
        #expect(outcome.devices.map(\.registrationID) == [first.id, second.id])
        #expect(outcome.devices.map(\.outcome) == [.success, .skipped])
        #expect(outcome.devices[1].explanation == "another registration with the same handle received it")
        #expect(outcome.sent == 1 && outcome.failed == 0)
        #expect(bench.connector.batches.map(\.handles) == [[.phone(1)]])
    }

    @Test("A batch with a handle twice sends once and counts the other as skipped") func duplicatesInBatch() async throws {
        let outcome = try await hub.send(
            NotificationRequest(
                audience: .devices([.apns(token: "ab01"), .apns(token: "AB02"), .apns(token: "AB01")]),
                content: .native(AlertPayloads.system(title: nil, text: "Hi"))))
        #expect(outcome.counts == [.apns: [.success: 2, .skipped: 1]])
        #expect(outcome.devices.map(\.handle) == [.apns(token: "AB01"), .apns(token: "AB02"), .apns(token: "AB01")])
        #expect(bench.connector.batches.flatMap(\.handles) == [.apns(token: "AB01"), .apns(token: "AB02")])
    }

    @Test("If configured, a hub accepts content that a push service rejects, and counts it for each device") func large() async throws {
        let hub = try await bench.reopened(HubSettings(acceptance: HubSettings.Acceptance(refusesLargePayloads: false)))
        let body = Array(#"{"a":"\#(String(repeating: "x", count: 4089))"}"#.utf8)
        let request = NotificationRequest(audience: .device(.phone(1)), content: .native([.apns: NativePayload(body: body)]))
        let accepted = try await hub.accept(request)
        await bench.settle()
        let outcome = try await hub.outcome(of: accepted.outcome.id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.invalidNotificationSize: 1]])
        #expect(outcome.devices[0].explanation == "the payload has 4097 bytes; APNs accepts at most 4096: shorten it")
        #expect(bench.connector.batches.isEmpty)
        #expect(await refusal { try await bench.hub.accept(request) }?.code == "payload.too_large")
    }

    @Test("A device with two templates gets both") func twoTemplates() async throws {
        try await bench.register(.phone(1), template: Self.alert)
        try await bench.register(.phone(1), template: #"{"aps":{"alert":"B $(message)"}}"#)
        #expect(try await hub.send(.properties(["message": "x"])).sent == 2)
    }

    // MARK: - Rejections

    @Test("Content that no device can receive is rejected before anything is sent")
    func refusals() async throws {
        try await bench.register(.phone(1))
        let cases: [(NotificationContent, String, String)] = [
            (.native([:]), "payload.empty", "the notification has no content"),
            (.native([.apns: NativePayload(body: [])]), "payload.empty", "the APNs payload is empty"),
            (
                .native([.gcm: NativePayload(body: Array("[1]".utf8))]), "payload.invalid",
                "the GCM payload is not a JSON object"
            ),
            (
                .template(["a b": "c"]), "payload.property_name", "\"a b\" is not the name of a template property"
            ),
            (
                .template(["a": String(repeating: "x", count: 65_536)]), "payload.too_large",
                "the properties have 65543 bytes; a message to the hub has at most 65,536"
            ),
        ]
        for (content, code, message) in cases {
            let error = await refusal { try await hub.send(NotificationRequest(audience: .everyone, content: content)) }
            #expect(error?.code == code)
            #expect(error?.message == message)
        }
        var request = try NotificationRequest.alert()
        request.options.collapseID = String(repeating: "c", count: 65)
        #expect(await refusal { try await hub.send(request) }?.code == "payload.collapse_id")
        #expect(bench.connector.batches.isEmpty)
    }

    @Test func `a notification has at most 64 KiB of headers, and of tag expression`() async throws {
        try await bench.register(.phone(1))
        func request(header bytes: Int, operands: Int) throws -> NotificationRequest {
            let headers = [PushHeader("apns-a", String(repeating: "x", count: bytes - 6))]
            let expression = Array(repeating: "abcdef", count: operands).joined(separator: " || ")
            return NotificationRequest(
                audience: .expression(try TagExpression(parsing: expression)),
                content: .native([.apns: NativePayload(body: Array(#"{"a":1}"#.utf8), headers: headers)]))
        }
        // Operands of six characters with two for the operator before each but the first: 65,534 bytes.
        let largest = try request(header: 65_536, operands: 8_192)
        #expect(await refusal { try await hub.send(largest) } == nil)
        let headers = try request(header: 65_537, operands: 1)
        let error = await refusal { try await hub.schedule(headers, at: bench.clock.now + .seconds(60)) }
        #expect(error?.code == "payload.too_large" && error?.status == 413)
        #expect(error?.message == "the headers have 65537 bytes; a notification accepts at most 65,536 for all platforms together")
        let expression = try request(header: 6, operands: 8_193)
        #expect(await refusal { try await hub.schedule(expression, at: bench.clock.now + .seconds(60)) }?.code == "tag_expression.invalid")
    }
}
