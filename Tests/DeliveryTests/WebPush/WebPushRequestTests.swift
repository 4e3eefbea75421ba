import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite struct WebPushRequestTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func connector(
        _ transport: ScriptedTransport, settings: WebPushSettings = Accounts.webPush
    ) throws -> WebPushConnector {
        try WebPushConnector(settings: settings, transport: transport, clock: clock, random: SeededRandom(seed: 1))
    }

    private func push(_ batch: DeliveryBatch) async throws -> ScriptedTransport.Exchange {
        let transport = ScriptedTransport([])
        _ = await (try connector(transport)).deliver(batch)
        return try #require(transport.pushes.first)
    }

    @Test func `a message has these headers in this order, and a body that is 103 bytes longer`() async throws {
        let push = try await push(
            .browser(
                options: PushOptions(expiration: Accounts.start + .seconds(60), priority: .high, collapseID: "score-1"),
                endpoints: ["https://Push.example.com:8443/wpush/v2/gAAA%2b?x=1"]))
        #expect(push.request.method == .post)
        #expect(push.request.scheme == "https")
        #expect(push.request.authority == "push.example.com:8443")
        #expect(push.request.path == "/wpush/v2/gAAA%2b?x=1")
        #expect(
            push.headers.dropFirst() == [
                "TTL: 60", "Urgency: high", "Topic: score-1", "Content-Encoding: aes128gcm",
                "Content-Type: application/octet-stream", "Content-Length: 117",
            ])
        #expect(push.headers.first?.hasPrefix("Authorization: vapid t=") == true)
        #expect(push.body.count == 117)
        #expect(Array(push.body[16..<21]) == [0, 0, 0x10, 0, 65])
        #expect(!push.text.contains("Hi"))
    }

    @Test(
        arguments: [
            (nil, "2419200"), (.seconds(90), "90"), (.seconds(0), "0"), (.seconds(-5), "0"), (.seconds(31 * 86_400), "2592000"),
        ] as [(Duration?, String)])
    func `TTL is mandatory, never negative, and at most 30 days`(life: Duration?, seconds: String) async throws {
        let push = try await push(.browser(options: PushOptions(expiration: life.map { Accounts.start + $0 })))
        #expect(push.header("TTL") == seconds)
    }

    @Test(
        arguments: [(.high, "high"), (.normal, "normal"), (.low, "low"), (nil, nil)] as [(PushOptions.Priority?, String?)])
    func `a priority becomes an urgency`(priority: PushOptions.Priority?, urgency: String?) async throws {
        #expect(try await push(.browser(options: PushOptions(priority: priority))).header("Urgency") == urgency)
    }

    @Test func `a declarative message is sent with its content type`() async throws {
        let message = #"{"web_push":8030,"notification":{"title":"News","navigate":"https://example.com/"}}"#
        #expect(try await push(.browser(message)).header("Content-Type") == "application/notification+json")
    }

    @Test func `a collapse id becomes a topic, directly or as its hash`() async throws {
        func topic(_ id: String) async throws -> String? {
            try await push(.browser(options: PushOptions(collapseID: id))).header("Topic")
        }
        let longest = "abcdefghijklmnopqrstuvwxyz-_0123"
        #expect(try await topic(longest) == longest)
        for id in [longest + "4", "with blank", "a.b", "a+b"] {
            let first = try #require(try await topic(id))
            #expect(first.utf8.count == 32)
            #expect(Base64URL.decode(first) != nil)
            #expect(try await topic(id) == first)
        }
        #expect(try await topic("a.b") != topic("a.c"))
    }

    @Test func `headers of the sender override the options, and other headers are dropped`() async throws {
        let push = try await push(
            .browser(
                headers: [
                    PushHeader("ttl", "7"), PushHeader("URGENCY", "very-low"), PushHeader("Topic", "t"),
                    PushHeader("Authorization", "vapid stolen"), PushHeader("Content-Encoding", "identity"),
                    PushHeader("Host", "evil"), PushHeader("TTLs", "1"),
                ],
                options: PushOptions(expiration: .distantFuture, priority: .high, collapseID: "c")))
        #expect(
            push.headers.dropFirst() == [
                "TTL: 7", "Urgency: very-low", "Topic: t", "Content-Encoding: aes128gcm",
                "Content-Type: application/octet-stream", "Content-Length: 117",
            ])
        #expect(!push.headers.joined().contains("stolen"))
    }

    @Test func `3,993 bytes fill the 4,096 that every service accepts, and one more is refused before sending`() async throws {
        #expect(try await push(.browser(String(repeating: "x", count: 3993))).body.count == 4096)
        let transport = ScriptedTransport([])
        let verdicts = await (try connector(transport)).deliver(
            .browser(String(repeating: "x", count: 3994), endpoints: ["https://a.example/1", "https://a.example/2"]))
        #expect(verdicts.map { $0.rejection?.outcome } == [.invalidNotificationSize, .invalidNotificationSize])
        #expect(verdicts.first?.rejection?.reason == "PayloadTooLarge")
        #expect(transport.all.isEmpty)
    }

    @Test(
        arguments: [
            "http://push.example.com/1", "https://localhost/1", "https://localhost./1", "https://db/1", "https://a.localhost/",
            "https://metadata.google.internal/", "https://printer.local/", "https://nas.lan:8443/", "https://a.home.arpa/",
            "https://127.0.0.1/", "https://10.1.2.3/", "https://172.16.0.1/", "https://172.31.255.255/",
            "https://192.168.0.1/", "https://169.254.169.254/latest/meta-data", "https://100.64.0.1/", "https://0.0.0.0/",
            "https://224.0.0.1/", "https://255.255.255.255/", "https://198.18.0.1/", "https://192.0.2.1/",
            "https://2130706433/", "https://127.1/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/",
            "https://127.0.0.1./", "https://1.2.3.4.5/", "https://08.8.8.8/", "https://8.8.8/", "https://a.b.0x1/",
            "https://[::1]/", "https://user@push.example.com/", "https://push.example.com\\@evil/", "https://a..example/",
            "ftp://push.example.com/", "nonsense", "",
        ])
    func `an endpoint in a private network is refused`(endpoint: String) async throws {
        let transport = ScriptedTransport([])
        let rejection = await (try connector(transport)).deliver(.browser(endpoints: [endpoint])).first?.rejection
        #expect(rejection?.reason == "BadEndpoint")
        #expect(rejection?.outcome == .badChannel)
        #expect(rejection?.isHandleInvalid == false)
        #expect(transport.all.isEmpty)
    }

    @Test(
        arguments: [
            "https://8.8.8.8/", "https://172.32.0.1/", "https://100.128.0.1/", "https://9.255.255.255:8443/",
            "https://updates.push.services.mozilla.com./", "https://local.example.com/", "https://10.example.com/",
        ])
    func `an endpoint at a public host is accepted`(endpoint: String) async throws {
        _ = try await push(.browser(endpoints: [endpoint]))
    }

    @Test func `an origin that the settings allow is reached, other private ones are not`() async throws {
        var settings = Accounts.webPush
        settings.allowedOrigins = ["http://127.0.0.1:8080", "https://Push.lan"]
        let transport = ScriptedTransport([])
        let verdicts = await (try connector(transport, settings: settings)).deliver(
            .browser(endpoints: [
                "http://127.0.0.1:8080/a", "https://push.lan:443/b", "http://127.0.0.1:8081/", "https://127.0.0.1:8080/",
                "http://127.0.0.1/", "http://push.lan/",
            ]))
        #expect(verdicts.map { $0.rejection?.reason } == [nil, nil] + Array(repeating: "BadEndpoint", count: 4))
        #expect(transport.pushes.map(\.request.path) == ["/a", "/b"])
    }

    @Test func `with private networks allowed, private addresses are reached over TLS`() async throws {
        var settings = Accounts.webPush
        settings.allowsPrivate = true
        let transport = ScriptedTransport([])
        let endpoints = ["https://127.0.0.1:8443/a", "https://push.lan/b", "http://push.lan/c"]
        let verdicts = await (try connector(transport, settings: settings)).deliver(.browser(endpoints: endpoints))
        #expect(verdicts.map { $0.rejection?.reason } == [nil, nil, "BadEndpoint"])
    }

    @Test func `a handle of another platform is not sent`() async throws {
        let transport = ScriptedTransport([])
        var batch = DeliveryBatch.browser()
        batch.handles = [.apns(token: "aa")]
        #expect(await (try connector(transport)).deliver(batch).first?.rejection?.outcome == .badChannel)
        #expect(transport.all.isEmpty)
    }
}
