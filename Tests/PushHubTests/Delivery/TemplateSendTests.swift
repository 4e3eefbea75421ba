import PushHub
import PushModel
import Support
import Testing

@Suite struct TemplateSendTests {
    private let bench: HubBench
    private static let alert = #"{"aps":{"alert":"$(message)"}}"#

    init() throws { bench = try HubBench() }

    private func register(
        _ handle: DeviceHandle, _ body: String = alert, headers: [PushHeader] = [], expiry: String? = nil,
        priority: String? = nil, name: String? = nil, pushVariables: [String: String] = [:]
    ) async throws {
        let template = try RegistrationTemplate(
            name: name, body: body, headers: headers, expiry: expiry, priority: priority, platform: handle.platform)
        _ = try await bench.hub.createRegistration(
            RegistrationDescription(handle: handle, template: template, pushVariables: pushVariables))
    }

    private func send(_ properties: [String: String]) async throws -> NotificationOutcome {
        try await bench.hub.send(.properties(properties))
    }

    @Test("Devices with the same template share one rendering, whatever its name") func grouping() async throws {
        for number in 1...3 { try await register(.phone(number), name: "n\(number)") }
        let outcome = try await send(["message": "Hi"])
        #expect(bench.connector.batches.map(\.handles.count) == [3])
        #expect(outcome.devices.map(\.templateName) == ["n1", "n2", "n3"])
    }

    @Test("Templates that differ only outside of the body are rendered separately") func beside() async throws {
        try await register(.phone(1), headers: [PushHeader("apns-priority", "5")])
        try await register(.phone(2), headers: [PushHeader("apns-priority", "10")])
        try await register(.phone(3), expiry: "0")
        try await register(.phone(4), priority: "1")
        _ = try await send(["message": "Hi"])
        #expect(
            bench.connector.batches.map(\.headers) == [
                [PushHeader("apns-priority", "5")], [PushHeader("apns-priority", "10")],
                [PushHeader("apns-expiration", "0")], [PushHeader("apns-priority", "1")],
            ])
    }

    @Test("Properties of the message override push variables, and variables that a template does not use split no batch")
    func variables() async throws {
        let body = #"{"aps":{"alert":"{$(name) + ' ' + $(message)}"}}"#
        try await register(.phone(1), body, pushVariables: ["Name": "Alice", "city": "Boston"])
        try await register(.phone(2), body, pushVariables: ["name": "Alice", "city": "Lima"])
        try await register(.phone(3), body, pushVariables: ["name": "Bob"])
        _ = try await send(["message": "Hi"])
        #expect(
            bench.connector.bodies == [
                #"{"aps":{"alert":"Alice Hi"}}"#, #"{"aps":{"alert":"Alice Hi"}}"#, #"{"aps":{"alert":"Bob Hi"}}"#,
            ])
        _ = try await send(["message": "Hi", "NAME": "Carol"])
        #expect(bench.connector.bodies.last == #"{"aps":{"alert":"Carol Hi"}}"#)
    }

    @Test("A template whose property the message lacks is sent too") func missing() async throws {
        try await register(.phone(1))
        #expect(try await send(["other": "Hi"]).sent == 1)
        #expect(bench.connector.bodies == [#"{"aps":{"alert":""}}"#])
    }

    @Test("An expiry is sent as apns-expiration and a priority as apns-priority, unless the headers have them") func expiry()
        async throws
    {
        try await register(.phone(1), expiry: "$(until)", priority: "$(how)")
        try await register(
            .phone(2), headers: [PushHeader("Apns-Expiration", "7"), PushHeader("apns-priority", "5")],
            expiry: "2026-01-06T00:00:00Z", priority: "10")
        _ = try await send(["until": "2026-01-06T00:00:00Z", "how": "5"])
        #expect(
            bench.connector.batches.map(\.headers) == [
                [PushHeader("apns-expiration", "1767657600"), PushHeader("apns-priority", "5")],
                [PushHeader("Apns-Expiration", "7"), PushHeader("apns-priority", "5")],
            ])
    }

    @Test(
        "A rendered expiry can have every date format of a send",
        arguments: ["2026-01-06", "01/06/2026 00:00:00", "Tue, 06 Jan 2026 00:00:00 GMT", "0"])
    func expiryForms(text: String) async throws {
        try await register(.phone(1), expiry: "$(until)")
        _ = try await send(["until": text])
        #expect(bench.connector.batches[0].headers == [PushHeader("apns-expiration", text == "0" ? "0" : "1767657600")])
    }

    @Test("An expression that renders to an invalid date or priority is omitted, and the trace reports it") func flaw() async throws {
        try await register(.phone(1), expiry: "$(until)", priority: "$(how)")
        #expect(try await send(["until": "soon", "how": "much"]).sent == 1)
        #expect(bench.connector.batches[0].headers == [])
        #expect(
            bench.notes(.render).last
                == "n-0001: left out: the expiry \"soon\" is neither a date nor 0; "
                + "the priority \"much\" is not a number from 0 to 255"
        )
    }

    @Test("The expiry of a template for another platform has no effect") func otherPlatform() async throws {
        try await register(.gcm(token: "t"), #"{"data":{}}"#, expiry: "whenever")
        _ = try await send(["a": "b"])
        #expect(bench.connector.batches[0].headers == [])
    }

    @Test("Headers are rendered like bodies") func headers() async throws {
        try await register(.phone(1), headers: [PushHeader("apns-collapse-id", "$(id)")])
        _ = try await send(["id": "order-7"])
        #expect(bench.connector.batches[0].headers == [PushHeader("apns-collapse-id", "order-7")])
    }

    @Test("A template that grows beyond its platform's limit fails for its own row only")
    func tooLarge() async throws {
        try await register(.phone(1))
        try await register(.phone(2), #"{"aps":{"alert":"$(message, 10)"}}"#)
        try await register(.wns(channel: "https://db5.notify.windows.com/?t=1"), "<toast><a>$(message)</a></toast>")
        let outcome = try await send(["message": String(repeating: "x", count: 4500)])
        #expect(outcome.state == .completed)
        #expect(outcome.devices.map(\.outcome) == [.invalidNotificationSize, .success, .success])
        let row = outcome.devices[0]
        #expect(row.reason == "PayloadTooLarge" && row.size == 4520 && !row.isRegistrationRemoved)
        #expect(row.explanation == "the rendered template has 4520 bytes; APNs accepts at most 4096: shorten the properties")
        #expect(bench.connector.batches.flatMap(\.handles).count == 2)
    }
}
