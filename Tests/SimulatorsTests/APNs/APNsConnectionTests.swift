import CNGHTTP2
import Crypto
import HTTPTypes
import Testing

@testable import Simulators

/// Connections to APNs over real sockets.
@Suite struct APNsConnectionTests {
    @Test func `one stream is allowed until a request succeeds, then many, and again one after a rejection`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let push = try network.push(to: phone)
        let stranger = try network.push(to: String(repeating: "ab", count: 32))
        let caller = try await HTTP2Caller(network)
        try await caller.wait { client, _ in client.limits == [1] }
        #expect(try await caller.send(push).verdict == "200")
        try await caller.wait { client, _ in client.limits == [1, 1000] }
        #expect(try await caller.send(stranger).verdict == "400 BadDeviceToken")
        try await caller.wait { client, _ in client.limits == [1, 1000, 1] }
        #expect(try await caller.send(stranger).verdict == "400 BadDeviceToken")
        #expect(try await caller.send(push).verdict == "200")
        try await caller.wait { client, _ in client.limits == [1, 1000, 1, 1000] }
        try await caller.close()
        await network.end()
    }

    @Test func `without the drop a rejection does not change the limit of streams, and a valid token raises it`() async throws {
        var settings = APNsHTTP2Settings()
        (settings.streams, settings.firstStreams, settings.dropsAfterRejection) = (500, 2, false)
        let network = try await SimulatorNetwork(settings)
        let caller = try await HTTP2Caller(network)
        #expect(try await caller.send(network.push(to: "ab", bearer: "no token")).verdict == "403 InvalidProviderToken")
        #expect(try await caller.send(network.push(to: "ab")).verdict == "400 BadDeviceToken")
        try await caller.wait { client, _ in client.limits == [2, 500] }
        try await caller.close()
        await network.end()
    }

    @Test func `many concurrent requests are all answered, each with its own id, and reach their phones`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let caller = try await HTTP2Caller(network)
        let push = try network.push(to: phone)
        #expect(try await caller.send(push).verdict == "200")
        try await caller.wait { client, _ in client.limits.last == 1000 }
        let ids = (0..<400).map { "00000000-0000-0000-0000-\(String(1_000_000_000_000 + $0).dropFirst())" }
        let streams = try await caller.act { client in ids.map { client.request(push + [("apns-id", $0)], body: SimulatorNetwork.hello) } }
        try await caller.wait { client, _ in streams.allSatisfy { client.answers[$0]?.code != nil } }
        let answers = try await caller.act { client in streams.map { client.answers[$0] } }
        #expect(answers.map { $0?.fields["apns-id"] } == ids)
        #expect(answers.allSatisfy { $0?.status == 200 })
        let lines = try network.control(.get, "/phones/ana")["inbox"]?.elements ?? []
        #expect(lines.count == 401)
        try await caller.close()
        await network.end()
    }

    @Test func `both environments accept their own tokens, and development answers have a unique id`() async throws {
        let network = try await SimulatorNetwork()
        let (real, test) = (try network.phone("ana"), try network.phone("dev", .development))
        let caller = try await HTTP2Caller(network)
        for host in ["api.sandbox.push.apple.com", "api.development.push.apple.com:443"] {
            let answer = try await caller.send(network.push(to: test, host: host))
            #expect(answer.verdict == "200" && answer.fields["apns-unique-id"]?.count == 36)
            #expect(try await caller.send(network.push(to: real, host: host)).verdict == "400 BadDeviceToken")
        }
        #expect(try await caller.send(network.push(to: test)).verdict == "400 BadDeviceToken")
        let answer = try await caller.send(network.push(to: real))
        #expect(answer.verdict == "200" && answer.fields["apns-unique-id"] == nil)
        // A client that is directed here may use the name of this machine.
        #expect(try await caller.send(network.push(to: real, host: "localhost:8443")).verdict == "200")
        #expect(try await caller.send(network.push(to: real, host: "push.example.com")).status == 421)
        let health = [(":method", "GET"), (":scheme", "https"), (":authority", "127.0.0.1"), (":path", "/health/live")]
        #expect(try await caller.send(health, []).text == #"{"status":"live"}"#)
        try await caller.close()
        await network.end()
    }

    @Test func `a path of neither the control plane nor APNs is a bad path of APNs`() async throws {
        let network = try await SimulatorNetwork()
        let caller = try await HTTP2Caller(network)
        func ask(_ method: String, _ path: String, host: String = "localhost:8443") async throws -> HTTP2Client.Answer {
            try await caller.send([(":method", method), (":scheme", "https"), (":authority", host), (":path", path)], [])
        }
        for path in ["/", "//3/device/00", "/3", "/3/", "/3/devices/00", "/phonesandmore", "//phones", "/?phones", "/.well-known/x"] {
            for (method, host) in [("POST", "localhost:8443"), ("GET", "127.0.0.1"), ("POST", "api.push.apple.com")] {
                let answer = try await ask(method, path, host: host)
                #expect(answer.verdict == "404 BadPath" && answer.fields["apns-id"]?.count == 36, "\(method) \(path)")
            }
        }
        for method in ["GET", "PUT", "DELETE"] {
            #expect(try await ask(method, "/3/device/00").verdict == "405 MethodNotAllowed")
        }
        let head = try await ask("HEAD", "/3/device/00")
        #expect(head.status == 405 && head.body.isEmpty && head.fields["apns-id"]?.count == 36)
        #expect(try await ask("GET", "/phones").text == #"{"phones":[]}"#)
        #expect(try await ask("GET", "/ledger?limit=1").status == 200)
        // A path under the control plane that does not exist.
        let none = try await ask("GET", "/phones/ana/nothing")
        #expect(none.status == 404 && none.text.contains("simulator.path"))
        try await caller.close()
        await network.end()
    }

    @Test func `a connection is for one team, and for one of its keys`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        func token(_ order: String) throws -> String {
            let made = try network.control(.post, "/keys", order)
            let key = try P256.Signing.PrivateKey(pemRepresentation: #require(made["private_key"]?.string))
            let (id, team) = (try #require(made["key_id"]?.string), try #require(made["team_id"]?.string))
            #expect(id.utf8.count == 10)
            return try TokenText.es256(
                header: #"{"alg":"ES256","kid":"\#(id)"}"#,
                claims: #"{"iss":"\#(team)","iat":\#(network.time.seconds)}"#, key: key)
        }
        let (second, other) = (try token("{}"), try token(#"{"team_id": "OTHERTEAM1"}"#))
        let app = #"{"team_id": "OTHERTEAM1", "topics": ["\#(SimulatorCredentials.app)"]}"#
        let allowed = try token(app)
        let development = try token(#"{"environment": "development"}"#)
        let caller = try await HTTP2Caller(network)
        #expect(try await caller.send(network.push(to: phone)).verdict == "200")
        #expect(try await caller.send(network.push(to: phone, bearer: second)).verdict == "403 UnrelatedKeyIdInToken")
        #expect(try await caller.send(network.push(to: phone, bearer: other)).verdict == "403 InvalidProviderToken")
        #expect(try await caller.send(network.push(to: phone, bearer: development)).verdict == "403 BadEnvironmentKeyIdInToken")
        #expect(try await caller.send(network.push(to: phone)).verdict == "200")
        try await caller.close()
        // On separate connections each is valid for its purpose.
        for (bearer, verdict) in [(second, "200"), (other, "400 TopicDisallowed"), (allowed, "200")] {
            let fresh = try await HTTP2Caller(network)
            #expect(try await fresh.send(network.push(to: phone, bearer: bearer)).verdict == verdict)
            try await fresh.close()
        }
        await network.end()
    }

    @Test func `a revoked key is refused`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let caller = try await HTTP2Caller(network)
        #expect(try await caller.send(network.push(to: phone)).verdict == "200")
        _ = try network.control(.delete, "/keys/\(SimulatorCredentials.keyID)")
        #expect(try await caller.send(network.push(to: phone)).verdict == "403 InvalidProviderToken")
        try await caller.close()
        await network.end()
    }

    @Test func `orders that cannot be fulfilled name the valid range`() async throws {
        let network = try await SimulatorNetwork()
        func refusal(_ path: String, _ body: String) throws -> String {
            let request = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: path)
            let answer = network.server.responder.controlPlane.handle(request, body: Array(body.utf8))
            #expect(answer.response.status == .badRequest)
            let json = try #require(JSONValue(answer.body))
            return "\(json["message"]?.string ?? ""): \(json["hint"]?.string ?? "")"
        }
        #expect(
            try refusal("/connections", #"{"latency_ms": -1}"#)
                == "\"latency_ms\" is not a number from 0 to 1000000: give milliseconds, 0 for no delay; omit it to keep the value")
        #expect(try network.control(.post, "/connections", #"{"latency_ms": 7}"#)["latency_ms"]?.integer == 7)
        #expect(try network.control(.post, "/connections", #"{"latency_ms": 0}"#)["latency_ms"]?.integer == 0)
        #expect(
            try refusal("/connections", #"{"reset_connections_every": 0}"#)
                == "\"reset_connections_every\" is not a number from 1 to 1000000: every n-th connection is affected; omit it to keep "
                + "the value, and use DELETE /connections to remove all faults")
        #expect(try refusal("/faults/apns", #"{"reason": "Shutdown", "count": 0}"#).hasSuffix("omit it for all until DELETE /faults"))
        #expect(try refusal("/faults/apns", #"{"reason": "Shutdown", "retry_after": -1}"#).contains("seconds"))
        #expect(try refusal("/keys", #"{"team_id": "short"}"#).contains("ten capital letters and digits"))
        await network.end()
    }

    @Test func `a client that names no protocol is understood`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let caller = try await HTTP2Caller(network, protocols: [])
        #expect(try await caller.send(network.push(to: phone)).verdict == "200")
        try await caller.close()
        await network.end()
    }

    @Test func `on shutdown open requests are answered and the reason is given`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        _ = try network.control(.post, "/connections", #"{"latency_ms": 50}"#)
        let caller = try await HTTP2Caller(network)
        let push = try network.push(to: phone)
        try await caller.wait { client, _ in client.limits == [1] }
        let stream = try await caller.act { $0.request(push, body: SimulatorNetwork.hello) }
        // The server has the request as soon as it is counted.
        while try network.control(.get, "/connections")["requests"]?.integer == 0 { await Task.yield() }
        async let end: Void = network.end()
        try await caller.wait { _, isClosed in isClosed }
        await end
        let (status, goAways) = try await caller.act { ($0.answers[stream]?.status, $0.goAways.map(\.debug)) }
        #expect(status == 200)
        #expect(goAways == [#"{"reason":"Shutdown"}"#])
    }
}

/// Faults that a test requests.
@Suite struct APNsConnectionFaultTests {
    @Test func `every nth request is processed and then breaks its connection`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        _ = try network.control(.post, "/connections", #"{"reset_every": 2}"#)
        let first = try await HTTP2Caller(network)
        #expect(try await first.send(network.push(to: phone)).verdict == "200")
        #expect(try await first.send(network.push(to: phone)).status == 0)
        try await first.wait { client, isClosed in isClosed && client.goAways.isEmpty }
        // The request was processed nevertheless.
        #expect(try network.control(.get, "/phones/ana")["inbox"]?.elements?.count == 2)
        _ = try network.control(.delete, "/connections")
        let second = try await HTTP2Caller(network)
        for _ in 0..<3 { #expect(try await second.send(network.push(to: phone)).verdict == "200") }
        try await second.close()
        await network.end()
    }

    /// Of concurrent HTTP/2 requests, those before the one that breaks the connection are answered, and those after it are not
    /// processed. Only the result of the breaking one is unknown to the sender.
    @Test(arguments: [0, 20])
    func `of concurrent requests, those before the break are answered and those after it are not processed`(latency: Int) async throws {
        var settings = APNsHTTP2Settings()
        settings.firstStreams = 100
        let network = try await SimulatorNetwork(settings)
        let phone = try network.phone("ana")
        _ = try network.control(.post, "/connections", #"{"reset_every": 5, "latency_ms": \#(latency)}"#)
        let caller = try await HTTP2Caller(network)
        try await caller.wait { client, _ in client.limits == [100] }
        let push = try network.push(to: phone)
        let streams = try await caller.act { client in (0..<40).map { _ in client.request(push, body: SimulatorNetwork.hello) } }
        try await caller.wait { _, isClosed in isClosed }
        let statuses = try await caller.act { client in streams.map { client.answers[$0]?.status ?? 0 } }
        #expect(statuses == Array(repeating: 200, count: 4) + Array(repeating: 0, count: 36))
        #expect(try network.control(.get, "/phones/ana")["inbox"]?.elements?.count == 5)
        #expect(try network.control(.get, "/connections")["requests"]?.integer == (latency == 0 ? 5 : 40))
        await network.end()
    }

    @Test func `every nth connection breaks at its first request, which is not processed`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        _ = try network.control(.post, "/connections", #"{"reset_connections_every": 3}"#)
        var statuses: [Int] = []
        for _ in 0..<6 {
            let caller = try await HTTP2Caller(network)
            statuses.append(try await caller.send(network.push(to: phone)).status)
            try await caller.close()
        }
        #expect(statuses == [200, 200, 0, 200, 200, 0])
        #expect(try network.control(.get, "/phones/ana")["inbox"]?.elements?.count == 4)
        #expect(try network.control(.get, "/connections")["connections"]?.integer == 6)
        await network.end()
    }

    @Test func `GOAWAY after every nth request gives Shutdown as its reason, and follows the answer`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        _ = try network.control(.post, "/connections", #"{"goaway_every": 2}"#)
        let caller = try await HTTP2Caller(network)
        for _ in 0..<2 { #expect(try await caller.send(network.push(to: phone)).verdict == "200") }
        try await caller.wait { client, isClosed in isClosed && client.goAways.map(\.debug) == [#"{"reason":"Shutdown"}"#] }
        await network.end()
    }

    @Test func `a stalled request is processed and never answered, others are answered`() async throws {
        var settings = APNsHTTP2Settings()
        settings.firstStreams = 10
        let network = try await SimulatorNetwork(settings)
        let phone = try network.phone("ana")
        _ = try network.control(.post, "/connections", #"{"stall_every": 2}"#)
        let caller = try await HTTP2Caller(network)
        let push = try network.push(to: phone)
        try await caller.wait { client, _ in client.limits == [10] }
        let streams = try await caller.act { client in (0..<3).map { _ in client.request(push, body: SimulatorNetwork.hello) } }
        try await caller.wait { client, _ in client.answers[streams[0]]?.code != nil && client.answers[streams[2]]?.code != nil }
        #expect(try await caller.act { $0.answers[streams[1]]?.code } == nil)
        #expect(try network.control(.get, "/phones/ana")["inbox"]?.elements?.count == 3)
        try await caller.close()
        await network.end()
    }

    @Test func `refusals may ask for a wait, and may apply to a random share`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let caller = try await HTTP2Caller(network)
        let push = try network.push(to: phone)
        _ = try network.control(.post, "/faults/apns", #"{"reason": "TooManyRequests", "count": 1, "retry_after": 7}"#)
        let refused = try await caller.send(push)
        #expect(refused.verdict == "429 TooManyRequests" && refused.fields["retry-after"] == "7")
        let answer = try await caller.send(push)
        #expect(answer.verdict == "200" && answer.fields["retry-after"] == nil)
        _ = try network.control(.post, "/faults/apns", #"{"reason": "ServiceUnavailable", "share": 0.25}"#)
        var verdicts: [String: Int] = [:]
        for _ in 0..<200 { verdicts[try await caller.send(push).verdict, default: 0] += 1 }
        // The random numbers of the test decide.
        #expect(verdicts == ["200": 148, "503 ServiceUnavailable": 52])
        try await caller.close()
        await network.end()
    }

    @Test func `Shutdown and IdleTimeout also end their connection`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        for reason in ["Shutdown", "IdleTimeout"] {
            _ = try network.control(.post, "/faults/apns", #"{"reason": "\#(reason)", "count": 1}"#)
            let caller = try await HTTP2Caller(network)
            #expect(try await caller.send(network.push(to: phone)).verdict.hasSuffix(reason))
            try await caller.wait { client, isClosed in isClosed && client.goAways.map(\.debug) == [#"{"reason":"\#(reason)"}"#] }
        }
        await network.end()
    }

    @Test func `an answer is sent once its line is in the ledger`() async throws {
        let log = EventBox()
        let network = try await SimulatorNetwork(ledger: log.sink)
        let phone = try network.phone("ana")
        let caller = try await HTTP2Caller(network)
        let push = try network.push(to: phone)
        let stream = try await caller.act { $0.request(push, body: SimulatorNetwork.hello) }
        while log.waiting == 0 { await Task.yield() }
        #expect(try await caller.act { $0.answers[stream]?.status ?? 0 } == 0)
        log.release()
        try await caller.wait { client, _ in client.answers[stream]?.status == 200 }
        try await caller.close()
        await network.end()
    }
}
