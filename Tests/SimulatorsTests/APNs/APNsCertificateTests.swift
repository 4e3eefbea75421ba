import Crypto
import FoundationEssentials
import HTTPTypes
import Testing

@testable import Simulators

/// Senders that authenticate in the TLS handshake.
@Suite struct APNsCertificateTests {
    private func certificate(_ network: SimulatorNetwork, _ order: String = "{}") throws -> (certificate: String, key: String) {
        let issued = try network.control(.post, "/certificates", order)
        return (try #require(issued["certificate"]?.string), try #require(issued["private_key"]?.string))
    }

    /// The answer to a push, with variations by the test.
    private func verdict(
        _ network: SimulatorNetwork, _ order: String = "{}", host: String = "api.push.apple.com", _ fields: [(String, String)] = [],
        to phone: String? = nil
    ) async throws -> String {
        let caller = try await HTTP2Caller(network, certificate: try certificate(network, order))
        let token = try phone ?? network.phone("ana")
        let answer = try await caller.send(network.push(to: token, host: host, isBare: true) + fields)
        try await caller.close()
        return answer.verdict
    }

    @Test func `a certificate with one topic needs neither a token nor a topic, and many streams are allowed at once`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let caller = try await HTTP2Caller(network, certificate: try certificate(network))
        try await caller.wait { client, _ in client.limits == [1000] }
        #expect(try await caller.send(network.push(to: phone, isBare: true)).verdict == "200")
        // The provider token is ignored.
        #expect(try await caller.send(network.push(to: phone, bearer: "no token")).verdict == "200")
        try await caller.close()
        await network.end()
    }

    @Test func `a certificate with several topics needs a topic header, and pushes to no other topics`() async throws {
        let network = try await SimulatorNetwork()
        let app = SimulatorCredentials.app
        let order = #"{"topics": ["\#(app)", "\#(app).voip", "\#(app).complication"]}"#
        let phone = try network.phone("ana")
        #expect(try await verdict(network, order, to: phone) == "400 MissingTopic")
        #expect(try await verdict(network, order, [("apns-topic", app)], to: phone) == "200")
        let call = [("apns-topic", "\(app).voip"), ("apns-push-type", "voip")]
        #expect(try await verdict(network, order, call, to: phone) == "200")
        let location = [("apns-topic", "\(app).location-query"), ("apns-push-type", "location")]
        #expect(try await verdict(network, order, location, to: phone) == "400 TopicDisallowed")
        #expect(try await verdict(network, #"{"topics": ["com.example.other"]}"#, to: phone) == "400 DeviceTokenNotForTopic")
        await network.end()
    }

    @Test func `a certificate is for one environment, or for both`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        #expect(try await verdict(network, #"{"environment": "development"}"#, to: phone) == "403 BadCertificateEnvironment")
        #expect(try await verdict(network, #"{"environment": "production"}"#, to: phone) == "200")
        let test = try network.phone("dev", .development)
        #expect(try await verdict(network, host: "api.sandbox.push.apple.com", to: test) == "200")
        await network.end()
    }

    @Test func `an expired certificate and one of another authority are refused, and the connection ends`() async throws {
        let network = try await SimulatorNetwork()
        let phone = try network.phone("ana")
        let now = network.time.seconds
        let stranger = try #require(
            APNsCertificateAuthority(seed: P256.Signing.PrivateKey()).issue(
                .init(topics: [SimulatorCredentials.app], from: now - 10, until: now + 10)))
        for certificate in [try certificate(network, #"{"expires_in": -1}"#), stranger] {
            let caller = try await HTTP2Caller(network, certificate: certificate)
            #expect(try await caller.send(network.push(to: phone, isBare: true)).verdict == "403 BadCertificate")
            try await caller.wait { client, isClosed in isClosed && client.goAways.map(\.debug) == [#"{"reason":"BadCertificate"}"#] }
        }
        await network.end()
    }

    @Test func `the authority is the same at every start, and each seed key has its own`() throws {
        let key = P256.Signing.PrivateKey()
        func publicKey(_ seed: P256.Signing.PrivateKey) -> Data { APNsCertificateAuthority(seed: seed).publicKey.rawRepresentation }
        #expect(publicKey(key) == publicKey(key))
        #expect(publicKey(key) != publicKey(P256.Signing.PrivateKey()))
        #expect(publicKey(key) != key.publicKey.rawRepresentation)
    }
}
