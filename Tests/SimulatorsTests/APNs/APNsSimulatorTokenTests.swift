import Crypto
import HTTPTypes
import Simulators
import Testing

@Suite("APNs checks the provider token")
struct APNsSimulatorTokenTests {
    let bench = APNsBench()

    private func verdict(of token: String) async throws -> String {
        try await bench.verdict { $0.set("authorization", "bearer \(token)") }
    }

    @Test("A request needs a token")
    func missing() async throws {
        #expect(try await bench.verdict { $0.set("authorization", nil) } == "403 MissingProviderToken")
        #expect(try await bench.verdict { $0.set("authorization", "basic eDp5") } == "403 MissingProviderToken")
    }

    @Test("The scheme is case-insensitive")
    func scheme() async throws {
        let token = try bench.token()
        #expect(try await bench.verdict { $0.set("authorization", "Bearer \(token)") } == "200")
    }

    @Test("Text that is not a token is rejected", arguments: ["x", "a.b", "a.b.c", "e30.e30.AA", "e30.e30.AA.AA"])
    func garbage(token: String) async throws {
        #expect(try await verdict(of: token) == "403 InvalidProviderToken")
    }

    @Test("The algorithm must be ES256")
    func algorithm() async throws {
        #expect(
            try await verdict(of: bench.token(header: #"{"alg":"none","kid":"KEY1234567"}"#))
                == "403 InvalidProviderToken")
    }

    @Test("The team must be the key's")
    func team() async throws {
        #expect(try await verdict(of: bench.token(team: "OTHER12345")) == "403 InvalidProviderToken")
    }

    @Test("The key must be known")
    func unknownKey() async throws {
        #expect(
            try await verdict(of: bench.token(header: #"{"alg":"ES256","kid":"NOBODY1234"}"#))
                == "403 InvalidProviderToken")
    }

    @Test("The signature must be the key's")
    func signature() async throws {
        #expect(
            try await verdict(of: bench.token(key: P256.Signing.PrivateKey())) == "403 InvalidProviderToken")
    }

    @Test("A token is valid for an hour")
    func expired() async throws {
        let token = try bench.token()
        bench.time.advance(seconds: 3600)
        #expect(try await verdict(of: token) == "200")
        bench.time.advance(seconds: 1)
        #expect(try await verdict(of: token) == "403 ExpiredProviderToken")
    }

    @Test("A token may be at most five minutes ahead")
    func future() async throws {
        #expect(try await verdict(of: bench.token(issuedAt: bench.time.seconds + 300)) == "200")
        #expect(
            try await verdict(of: bench.token(issuedAt: bench.time.seconds + 301)) == "403 ExpiredProviderToken")
    }

    @Test("A key can be restricted to the other environment")
    func environment() async throws {
        let key = P256.Signing.PrivateKey()
        bench.simulator.trust(key: key.publicKey, kid: "DEVKEY1234", environment: .development)
        #expect(
            try await verdict(of: bench.token(header: #"{"alg":"ES256","kid":"DEVKEY1234"}"#, key: key))
                == "403 BadEnvironmentKeyIdInToken")
    }

    @Test("A connection accepts only the key of its first token, and a new connection can use another")
    func unrelatedKey() async throws {
        let key = P256.Signing.PrivateKey()
        bench.simulator.trust(key: key.publicKey, kid: "SECOND1234")
        let connection = bench.simulator.openConnection()
        let body = Array(#"{"aps":{"alert":"x"}}"#.utf8)
        #expect(Reply(await connection.handle(bench.request(), body: body)).status == 200)
        var request = bench.request()
        let token = try bench.token(header: #"{"alg":"ES256","kid":"SECOND1234"}"#, key: key)
        request.set("authorization", "bearer \(token)")
        #expect(
            Reply(await connection.handle(request, body: body)).member("reason") == "UnrelatedKeyIdInToken")
        #expect(Reply(await bench.simulator.openConnection().handle(request, body: body)).status == 200)
    }

    @Test("Three tokens in twenty minutes are accepted, the fourth is rejected, and known ones stay valid")
    func updates() async throws {
        let first = try bench.token()
        #expect(try await verdict(of: first) == "200")
        #expect(try await verdict(of: bench.token(issuedAt: bench.time.seconds - 1)) == "200")
        #expect(try await verdict(of: bench.token(issuedAt: bench.time.seconds - 2)) == "200")
        let fourth = try bench.token(issuedAt: bench.time.seconds - 3)
        #expect(try await verdict(of: fourth) == "429 TooManyProviderTokenUpdates")
        #expect(try await verdict(of: first) == "200")
        bench.time.advance(seconds: 1200)
        #expect(try await verdict(of: fourth) == "200")
    }

    @Test("A revoked key is rejected, as are its tokens that were accepted before")
    func revoked() async throws {
        let token = try bench.token()
        #expect(try await verdict(of: token) == "200")
        bench.simulator.revoke(kid: "KEY1234567")
        #expect(try await verdict(of: token) == "403 InvalidProviderToken")
    }

    @Test("The token is checked before the device")
    func order() async throws {
        #expect(
            try await bench.verdict {
                $0.set("authorization", nil)
                $0.path = "/3/device/abcd"
            } == "403 MissingProviderToken")
    }
}
