import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite("Requests to WNS")
struct WNSRequestTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func push(_ batch: DeliveryBatch) async throws -> ScriptedTransport.Exchange {
        let transport = ScriptedTransport([])
        let connector = try WNSConnector(settings: Accounts.wns, transport: transport, clock: clock)
        _ = await connector.deliver(batch)
        return try #require(transport.pushes.first)
    }

    @Test("A toast has these headers in this order, and an unchanged body")
    func toast() async throws {
        let body = "<toast><visual><binding template=\"ToastGeneric\"><text>H\u{e9}</text></binding></visual></toast>"
        let push = try await push(
            .wns(body, options: PushOptions(expiration: Accounts.start + .seconds(60), priority: .high)))
        #expect(push.request.method == .post)
        #expect(push.request.scheme == "https")
        #expect(push.request.authority == "db5.notify.windows.com")
        #expect(push.request.path == "/?token=AwYAAAB%2b")
        #expect(
            push.headers == [
                "Authorization: Bearer ya29.the-access-token", "Content-Type: text/xml",
                "Content-Length: \(body.utf8.count)", "X-WNS-Type: wns/toast", "X-WNS-RequestForStatus: true",
                "X-WNS-TTL: 60", "X-WNS-PRIORITY: 1",
            ])
        #expect(push.body == Array(body.utf8))
    }

    @Test(
        "The root of the XML determines the type",
        arguments: [
            ("<toast launch='a'/>", "wns/toast", "text/xml"), ("<TOAST/>", "wns/toast", "text/xml"),
            ("\u{feff}<?xml version=\"1.0\"?>\n<!-- <badge/> --><!DOCTYPE x>\n<tile>", "wns/tile", "text/xml"),
            ("<badge value=\"7\"/>", "wns/badge", "text/xml"), ("<toaster/>", "wns/raw", "application/octet-stream"),
            ("42", "wns/raw", "application/octet-stream"), ("", "wns/raw", "application/octet-stream"),
            ("<", "wns/raw", "application/octet-stream"), ("<?xml", "wns/raw", "application/octet-stream"),
            (#"{"a":1}"#, "wns/raw", "application/octet-stream"), ("<!--", "wns/raw", "application/octet-stream"),
        ])
    func type(body: String, type: String, contentType: String) async throws {
        let push = try await push(.wns(body))
        #expect(push.header("X-WNS-Type") == type)
        #expect(push.header("Content-Type") == contentType)
        #expect(push.header("Content-Length") == "\(body.utf8.count)")
    }

    @Test("A priority is sent as a number, 1 for high", arguments: [(PushOptions.Priority.high, "1"), (.normal, "2"), (.low, "3")])
    func priority(wanted: PushOptions.Priority, number: String) async throws {
        #expect(try await push(.wns("<toast/>", options: PushOptions(priority: wanted))).header("X-WNS-PRIORITY") == number)
    }

    @Test("Headers of the sender take precedence, and other headers are dropped")
    func passThrough() async throws {
        let push = try await push(
            .wns(
                headers: [
                    PushHeader("x-wns-type", "wns/raw"), PushHeader("X-WNS-Cache-Policy", "cache"),
                    PushHeader("X-WNS-TTL", "5"), PushHeader("X-WNS-Tag", "t1"), PushHeader("MS-CV", "abc.0"),
                    PushHeader("X-WNS-RequestForStatus", "false"), PushHeader("Authorization", "Bearer stolen"),
                    PushHeader("Content-Length", "1"), PushHeader("Host", "evil"),
                ], options: PushOptions(expiration: .distantFuture)))
        #expect(
            push.headers == [
                "Authorization: Bearer ya29.the-access-token", "Content-Type: application/octet-stream",
                "Content-Length: 8", "x-wns-type: wns/raw", "X-WNS-RequestForStatus: false", "X-WNS-TTL: 5",
                "X-WNS-Cache-Policy: cache", "X-WNS-Tag: t1", "MS-CV: abc.0",
            ])
    }

    @Test(
        "A collapse id is the tag of a tile if it is a valid one",
        arguments: [
            ("<tile/>", "score1", "score1"), ("<tile/>", "much-too-odd", nil), ("<toast/>", "score1", nil),
        ])
    func tag(body: String, collapseID: String, tag: String?) async throws {
        let push = try await push(.wns(body, options: PushOptions(collapseID: collapseID)))
        #expect(push.header("X-WNS-Tag") == tag)
    }

    @Test(
        "A channel of another host is rejected before a token is requested",
        arguments: [
            "https://evil.example/", "http://db5.notify.windows.com/", "https://notify.windows.com.evil.example/",
            "https://evilnotify.windows.com/", "https://notify.windows.com/", "https://db5.notify.windows.com:444/",
            "https://db5.notify.windows.com@evil.example/", "https://evil.example\\.notify.windows.com/", "nonsense",
            "https://evil.example/.notify.windows.com", "https://evil.example#.notify.windows.com",
            "https://evil.example?.notify.windows.com", "https://.notify.windows.com/",
        ])
    func foreignChannel(channel: String) async throws {
        let transport = ScriptedTransport([])
        let connector = try WNSConnector(settings: Accounts.wns, transport: transport, clock: clock)
        let verdict = await connector.deliver(.wns(channels: [channel])).first
        #expect(verdict?.isRejected == true)
        #expect(verdict?.rejection?.reason == "BadChannel")
        #expect(verdict?.rejection?.outcome == .badChannel)
        #expect(transport.all.isEmpty)
    }

    @Test(
        "A simulator's host is allowed by name only",
        arguments: [
            ("https://sim.test:8443/c/1", true), ("http://127.0.0.1:9000/c/1", true),
            ("http://sim.test:8443/c/1", false),
            ("https://127.0.0.1:9000/c/1", false), ("https://sim.test/c/1", false),
            ("https://db5.notify.windows.com/", false),
        ])
    func simulator(channel: String, isAllowed: Bool) async throws {
        var settings = Accounts.wns
        settings.channelHosts = ["sim.test:8443", "http://127.0.0.1:9000"]
        let transport = ScriptedTransport([])
        let connector = try WNSConnector(settings: settings, transport: transport, clock: clock)
        _ = await connector.deliver(.wns(channels: [channel]))
        #expect(transport.pushes.count == (isAllowed ? 1 : 0))
    }

    @Test("A notification over 5,000 bytes is rejected before anything is sent", arguments: [5000, 5001])
    func tooLarge(size: Int) async throws {
        let transport = ScriptedTransport([])
        let connector = try WNSConnector(settings: Accounts.wns, transport: transport, clock: clock)
        let verdict = await connector.deliver(.wns(String(repeating: "x", count: size))).first
        #expect(transport.pushes.count == (size == 5000 ? 1 : 0))
        if size > 5000 {
            #expect(verdict?.rejection?.outcome == .invalidNotificationSize)
            #expect(verdict?.rejection?.explanation.contains("5001 bytes") == true)
        }
    }
}
