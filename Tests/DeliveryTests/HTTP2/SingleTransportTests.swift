import HTTPTypes
import PushModel
import Testing

@testable import Delivery

/// Single requests over the connections that batches use.
@Suite struct SingleTransportTests {
    private func exchange(recordsHeaders: Bool) async throws -> [PushResponse] {
        let identity = try TestIdentity()
        var dice = Dice(seed: 1)
        var behaviour = TortureBehaviour("big headers", &dice)
        behaviour.isLoose = true
        let server = try await PeerServer(behaviour, identity: identity)
        let transport = SingleTransport(
            HTTP2Transport(
                route: server.route, trust: identity.trust, limits: .init().generous, random: SeededRandom(seed: 1),
                recordsHeaders: recordsHeaders))
        var responses: [PushResponse] = []
        for number in 0..<8 {
            let fields: HTTPFields = [.authorization: "bearer x", .apnsID: Self.id(number), .apnsTopic: "topic"]
            let request = HTTPRequest(
                method: .post, scheme: "https", authority: "api.push.apple.com", path: "/3/device/\(number)", headerFields: fields)
            responses.append(try await transport.exchange(request, body: Array("{}".utf8)))
        }
        await transport.shutdown()
        try await server.stop()
        return responses
    }

    private static func id(_ number: Int) -> String { "123e4567-e89b-42d3-0000-00000000000\(number)" }

    @Test func `an answer has only the service's own fields by default`() async throws {
        let responses = try await exchange(recordsHeaders: false)
        #expect(responses.map { $0.status.code } == Array(repeating: 200, count: 8))
        #expect(responses.map { $0.headers.map(\.name.canonicalName) } == Array(repeating: ["apns-id"], count: 8))
    }

    @Test func `an answer has all its fields in order when they are recorded`() async throws {
        let responses = try await exchange(recordsHeaders: true)
        #expect(responses.map { $0.headers[.apnsID] } == (0..<8).map(Self.id))
        let names = responses.map { $0.headers.map(\.name.canonicalName) }
        #expect(names.contains(["apns-id", "x-one", "x-two"]))
        #expect(names.allSatisfy { $0.first == "apns-id" })
        let long = try #require(responses.first { $0.headers.count == 3 })
        #expect(long.headers.dropFirst().allSatisfy { $0.value.utf8.count > 1_000 })
    }

    @Test func `an invalid request is not sent, and a refused connection names the address`() async throws {
        let port = ClosedPort()
        let route = PushRoute(host: "127.0.0.1", port: port.number)
        let transport = SingleTransport(HTTP2Transport(route: route, random: SeededRandom(seed: 1)))
        func refusal(_ method: HTTPRequest.Method, _ path: String?) async -> String {
            do throws(TransportError) {
                _ = try await transport.exchange(
                    HTTPRequest(method: method, scheme: "https", authority: "api.push.apple.com", path: path), body: [])
                return "answered"
            } catch {
                if case .notSent(let why) = error { return why }
                return "\(error)"
            }
        }
        #expect(await refusal(.get, "/3/device/a").contains("GET"))
        #expect(await refusal(.post, nil).contains("without a host or a path"))
        #expect(await refusal(.post, "/3/device/a").contains("Connection refused"))
        await transport.shutdown()
        withExtendedLifetime(port) {}
    }
}
