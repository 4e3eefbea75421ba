import Crypto
import HTTPTypes
import Simulators
import Testing

@Suite struct WebPushSimulatorTests {
    let bench = WebPushBench()

    private func kind(
        _ bench: WebPushBench? = nil, change: (inout HTTPRequest) throws -> Void
    ) async throws -> String {
        try await (bench ?? self.bench).send(change: change).webPushKind
    }

    @Test func `a valid message is answered with 201, a location and the granted TTL`() async throws {
        let reply = try await bench.send()
        #expect(reply.status == 201)
        let id = try #require(bench.items.first?.id)
        #expect(reply["location"] == "\(WebPushBench.origin)/m/\(id)")
        #expect(reply["ttl"] == "3600")
        #expect(reply.body.isEmpty)
    }

    @Test func `a TTL beyond 30 days is shortened, and the answer has the new value`() async throws {
        #expect(try await bench.send { $0.set("ttl", "99999999") }["ttl"] == "2592000")
    }

    @Test func `only POST is accepted`() async throws {
        let reply = try await bench.send { $0.method = .get }
        #expect(reply.status == 405)
        #expect(reply["allow"] == "POST")
    }

    @Test func `an unknown endpoint is 404`() async throws {
        for path in ["/wpush/v2/gAAAAAnone", "/", "/m/1"] {
            let reply = try await bench.send { $0.path = path }
            #expect(reply.webPushKind == "404 102")
            #expect(reply.member("code") == "404")
            #expect(reply.member("error") == "Not Found")
            #expect(reply.member("message")?.isEmpty == false)
        }
    }

    @Test func `an ended subscription is 410, however it ended`() async throws {
        let old = try bench.subscription().endpoint
        bench.lab.rotateToken(of: bench.phone)
        #expect(try await kind { $0.path = WNSBench.parts(of: old).path } == "410 106")
        #expect(try await bench.send().status == 201)
        let body = try bench.seal([])
        let request = try bench.request()
        bench.lab.uninstall(bench.phone)
        #expect(Reply(await bench.simulator.handle(request, body: body)).webPushKind == "410 106")
    }

    /// As in autopush (autoendpoint, `NotificationHeaders`): a TTL that cannot be read counts as missing.
    @Test(arguments: [
        (nil, "400 111"), ("", "400 111"), ("soon", "400 111"), ("+5", "400 111"), ("1.5", "400 111"), ("60s", "400 111"), ("-", "400 111"),
        ("99999999999999999999", "400 111"), ("-1", "400 114"), ("-60", "400 114"),
    ])
    func `TTL is mandatory and a number of seconds`(value: String?, kind: String) async throws {
        #expect(try await self.kind { $0.set("ttl", value) } == kind)
    }

    @Test(arguments: ["", "abcdefghijklmnopqrstuvwxyz-_01234", "with blank", "a.b", "a=", "\u{e9}"])
    func `a topic has at most 32 characters of base64url`(topic: String) async throws {
        #expect(try await kind { $0.set("topic", topic) } == "400 113")
    }

    @Test func `a topic of 32 characters is accepted`() async throws {
        #expect(try await kind { $0.set("topic", "abcdefghijklmnopqrstuvwxyz-_0123") } == "201")
    }

    @Test func `a missing coding is reported before an invalid topic or TTL, as in autopush`() async throws {
        let refusal = try await kind {
            $0.set("content-encoding", nil)
            $0.set("topic", "a b")
            $0.set("ttl", "-1")
        }
        #expect(refusal == "400 110")
    }

    @Test(arguments: ["", "urgent", "high, low"])
    func `an urgency is one of four values`(urgency: String) async throws {
        #expect(try await kind { $0.set("urgency", urgency) } == "400 111")
    }

    @Test(arguments: ["very-low", "low", "normal", "high", "HIGH", "Very-Low", "nOrMaL"])
    func `the four urgencies are accepted in any case`(urgency: String) async throws {
        #expect(try await kind { $0.set("urgency", urgency) } == "201")
    }

    @Test(arguments: [("ttl", "60", "400 111"), ("topic", "a", "400 113"), ("urgency", "low", "400 111")])
    func `a duplicate header is refused`(name: String, value: String, kind: String) async throws {
        let refusal = try await self.kind {
            $0.set(name, value)
            $0.add(name, value)
        }
        #expect(refusal == kind)
    }

    @Test(arguments: [nil, "", "aesgcm", "gzip"])
    func `a body must have the coding aes128gcm`(coding: String?) async throws {
        #expect(try await kind { $0.set("content-encoding", coding) } == "400 110")
    }

    @Test func `a message may have no body, and then needs no coding`() async throws {
        #expect(try await bench.send(body: []) { $0.set("content-encoding", nil) }.status == 201)
        #expect(bench.items.first?.isBackground == true)
    }

    @Test func `4,096 bytes are accepted, one more is 413`() async throws {
        #expect(try await bench.send(body: bench.seal(Array(repeating: 0x61, count: 3993))).status == 201)
        #expect(try await bench.send(body: bench.seal(Array(repeating: 0x61, count: 3994))).webPushKind == "413 104")
    }

    // MARK: - VAPID

    @Test func `an unsigned message is refused, and the answer says how to sign`() async throws {
        let reply = try await bench.send { $0.set("authorization", nil) }
        #expect(reply.webPushKind == "401 109")
        #expect(reply["www-authenticate"] == "vapid")
    }

    @Test(arguments: ["vapid", "Bearer x", "WebPush eyJ0.eyJ1.c2ln", "vapid t=x", "vapid t=a.b.c, k=AAAA", "vapid k=AAAA"])
    func `an authorization in another form is refused`(value: String) async throws {
        #expect(try await kind { $0.set("authorization", value) } == "401 109")
    }

    @Test func `parameters may stand in any order, and the scheme in any case`() async throws {
        let value = try bench.authorization()
        let parts = value.dropFirst("vapid ".count).split(separator: ", ")
        #expect(try await kind { $0.set("authorization", "VAPID \(parts[1]),\(parts[0])") } == "201")
    }

    @Test func `the signature must match the key beside it`() async throws {
        #expect(
            try await kind { $0.set("authorization", try bench.authorization(key: P256.Signing.PrivateKey())) }
                == "401 109")
    }

    @Test(arguments: [#"{"typ":"JWT","alg":"none"}"#, #"{"typ":"JWT","alg":"HS256"}"#, #"{"typ":"JWT"}"#])
    func `the token must state ES256`(header: String) async throws {
        #expect(try await kind { $0.set("authorization", try bench.authorization(header: header)) } == "401 109")
    }

    @Test(
        arguments: [
            nil, "https://push.example.com", "updates.push.services.mozilla.com", "http://updates.push.services.mozilla.com",
            WebPushBench.origin + "/", WebPushBench.origin + ":8443",
        ])
    func `the audience is the origin of the endpoint`(audience: String?) async throws {
        #expect(try await kind { $0.set("authorization", try bench.authorization(audience: audience)) } == "401 109")
    }

    @Test(
        arguments: [(nil, "401 109"), (0, "401 109"), (-1, "401 109"), (1, "201"), (86_400, "201"), (86_401, "401 109")]
            as [(Int64?, String)])
    func `a token expires within a day from now`(lifetime: Int64?, kind: String) async throws {
        #expect(try await self.kind { $0.set("authorization", try bench.authorization(lifetime: lifetime)) } == kind)
    }

    @Test(arguments: [nil, "", "push@example.com", "tel:123", "http://example.com", "mailto:", "https://"])
    func `a token names a contact`(subject: String?) async throws {
        #expect(try await kind { $0.set("authorization", try bench.authorization(subject: subject)) } == "401 109")
    }

    @Test func `a valid token of another key than the subscription's is 403`() async throws {
        let other = P256.Signing.PrivateKey()
        let refusal = try await kind { $0.set("authorization", try bench.authorization(key: other, named: other)) }
        #expect(refusal == "403 109")
    }

    @Test func `a subscription without a key accepts messages of any sender, but no invalid tokens`() async throws {
        let open = WebPushBench(isRestricted: false)
        #expect(try await kind(open) { $0.set("authorization", nil) } == "201")
        let other = P256.Signing.PrivateKey()
        #expect(try await kind(open) { $0.set("authorization", try open.authorization(key: other, named: other)) } == "201")
        #expect(try await kind(open) { $0.set("authorization", try open.authorization(lifetime: -1)) } == "401 109")
    }

    // MARK: - Load

    @Test func `a browser accepts a limited number of messages per minute`() async throws {
        bench.simulator.update { $0.messagesPerMinutePerSubscription = 1 }
        #expect(try await bench.send().status == 201)
        let reply = try await bench.send()
        #expect(reply.status == 429)
        #expect(reply["retry-after"] == "60")
        bench.time.advance(seconds: 60)
        #expect(try await bench.send().status == 201)
    }

    @Test func `a refusal may be requested by its reason or by its status`() async throws {
        #expect(bench.simulator.fail("Gone", count: 1))
        #expect(bench.simulator.fail("503", count: 1))
        #expect(!bench.simulator.fail("gone", count: 1))
        #expect(!bench.simulator.fail("418", count: 1))
        #expect(try await bench.send().webPushKind == "410 106")
        let reply = try await bench.send()
        #expect(reply.webPushKind == "503 201")
        #expect(reply["retry-after"] == "120")
        #expect(try await bench.send().status == 201)
        #expect(bench.items.count == 1)
    }
}
