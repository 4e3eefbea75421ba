import NIOCore
import PushModel
import Synchronization
import Testing

@testable import Delivery

/// Which protocol is used for an origin, and which origins are refused.
@Suite struct NegotiatedTransportTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func batch(_ port: Int, count: Int = 3, scheme: String = "https", path: String = "/p/") -> PushBatch {
        let origin = PushOrigin(authority: "localhost:\(port)", scheme: scheme)
        var batch = PushBatch(
            headers: HeaderTemplate(origin: origin, authorization: nil, fields: []), body: Array("body".utf8), capacity: count)
        for index in 0..<count { batch.append(id: nil) { $0 += "\(path)\(index)".utf8 } }
        return batch
    }

    private struct Bench {
        let transport: NegotiatedTransport
        let client: HTTPClientTransport

        init(_ trust: TLSTrust, clock: VirtualClock, network: PublicNetwork? = nil) {
            let modern = HTTP2Transport(
                trust: trust, limits: .manyOrigins.generous, random: SeededRandom(seed: 1), network: { _ in network })
            client = HTTPClientTransport(
                network: network, limits: .init().generous, tls: trust.configuration(showing: nil), isHTTP1: true)
            transport = NegotiatedTransport(modern, plain: ConcurrentTransport(client), clock: clock)
        }

        func end() async {
            await transport.shutdown()
            await client.shutdown()
        }
    }

    private func server(_ protocols: [String], _ identity: TestIdentity) async throws -> ServiceServer {
        var behaviour = ServiceBehaviour()
        behaviour.protocols = protocols
        return try await ServiceServer(behaviour, identity: identity)
    }

    @Test(arguments: [["http/1.1"], []])
    func `an origin without HTTP 2 is called over HTTP 1`(protocols: [String]) async throws {
        let identity = try TestIdentity()
        let server = try await server(protocols, identity)
        let bench = Bench(identity.trust, clock: clock)
        #expect(await bench.transport.send(batch(server.port)).allSatisfy { $0.isAnswered })
        #expect(server.requests.map(\.path).sorted() == ["/p/0", "/p/1", "/p/2"])
        #expect(server.requests.allSatisfy { $0.text == "body" && $0.headers["content-length"] == "4" })
        await bench.end()
        try await server.stop()
    }

    @Test func `an origin without HTTP 2 is not probed again for a while`() async throws {
        let identity = try TestIdentity()
        let server = try await server(["http/1.1"], identity)
        let modern = HTTP2Transport(trust: identity.trust, limits: .manyOrigins.generous, random: SeededRandom(seed: 1))
        // HTTP/1.1 requests go to another server here, so that every connection is a probe for HTTP/2.
        let plain = ScriptedTransport([])
        let transport = NegotiatedTransport(modern, plain: ConcurrentTransport(plain), clock: clock)
        for attempts in [1, 1, 2] {
            if attempts == 2 { clock.advance(to: clock.now + NegotiatedTransport.memory) }
            #expect(await transport.send(batch(server.port)).allSatisfy { $0.isAnswered })
            #expect(server.accepted == attempts)
        }
        #expect(plain.pushes.count == 9)
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `plain HTTP uses HTTP 1`() async throws {
        let identity = try TestIdentity()
        var behaviour = ServiceBehaviour()
        behaviour.protocols = nil
        let server = try await ServiceServer(behaviour, identity: identity)
        let bench = Bench(identity.trust, clock: clock)
        #expect(await bench.transport.send(batch(server.port, scheme: "http")).allSatisfy { $0.isAnswered })
        await bench.end()
        try await server.stop()
    }

    private func isForbidden(_ outcomes: [PushOutcome]) -> Bool {
        outcomes.allSatisfy { if case .notSent(.forbidden(let why)) = $0 { why.contains("network.allow_private") } else { false } }
    }

    @Test func `over HTTP 2 a name with private addresses is refused before any data is sent`() async throws {
        let identity = try TestIdentity()
        let server = try await ServiceServer(identity: identity)
        let first = Bench(identity.trust, clock: clock, network: PublicNetwork(clock: clock))
        #expect(isForbidden(await first.transport.send(batch(server.port))))
        #expect(server.accepted == 0)
        await first.end()
        // The name was public when it was checked and has another address when the connection is made.
        let good = try SocketAddress(ipAddress: "8.8.8.8", port: 443)
        let second = Bench(identity.trust, clock: clock, network: PublicNetwork(clock: clock) { _ in [good] })
        #expect(isForbidden(await second.transport.send(batch(server.port))))
        #expect(server.spoken == 0)
        await second.end()
        let third = Bench(identity.trust, clock: clock)
        #expect(await third.transport.send(batch(server.port)).allSatisfy { $0.isAnswered })
        await third.end()
        try await server.stop()
    }

    @Test func `a limited number of idle origins is remembered, and those in use always`() async throws {
        let identity = try TestIdentity()
        let server = try await ServiceServer(identity: identity)
        var limits = HTTP2Limits().generous
        limits.idleOrigins = 3
        let transport = HTTP2Transport(route: server.route, trust: identity.trust, limits: limits, random: SeededRandom(seed: 1))
        func batch(_ number: Int) -> PushBatch {
            let headers = HeaderTemplate(origin: PushOrigin(authority: "push\(number).example"), authorization: nil, fields: [])
            var batch = PushBatch(headers: headers, body: [1])
            batch.append(id: nil) { $0 += "/p".utf8 }
            return batch
        }
        for number in 0..<10 {
            #expect(await transport.send(batch(number)).allSatisfy { $0.isAnswered })
            #expect(transport.origins <= 3)
        }
        // The most recent origin is still connected; the first one needs a new connection.
        #expect(server.spoken == 10)
        #expect(await transport.send(batch(9)).allSatisfy { $0.isAnswered })
        #expect(server.spoken == 10)
        #expect(await transport.send(batch(0)).allSatisfy { $0.isAnswered })
        #expect(server.spoken == 11)
        #expect(Set(server.requests.map(\.authority)).count == 10)
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `the number of exchanges in flight is limited`() async throws {
        let identity = try TestIdentity()
        var behaviour = ServiceBehaviour()
        // The server answers when 16 requests wait: a smaller width would never end, a larger one would be noticed.
        (behaviour.protocols, behaviour.timeout) = (nil, 16)
        let server = try await ServiceServer(behaviour, identity: identity)
        let client = HTTPClientTransport(limits: .init().generous)
        let transport = ConcurrentTransport(client, width: 16)
        #expect(await transport.send(batch(server.port, count: 160, scheme: "http")).allSatisfy { $0.isAnswered })
        #expect(server.mostWaiting == 16)
        // An answer may arrive before its connection is free: then one more connection is made.
        #expect((16...32).contains(server.accepted))
        await client.shutdown()
        try await server.stop()
    }

    @Test func `when the server stops answering, unsent requests stay unsent`() async throws {
        let silence = ScriptedTransport.Step.fail(.unknown("no answer came in time"))
        let base = ScriptedTransport(Array(repeating: silence, count: 500))
        let outcomes = await ConcurrentTransport(base, width: 32).send(batch(1, count: 500))
        // Those beyond the first 33 were in flight when it was detected.
        #expect((33...64).contains(base.pushes.count))
        #expect(outcomes.count { $0 == .unknown(.other("no answer came in time")) } == base.pushes.count)
        #expect(outcomes.count { if case .notSent(.unreachable) = $0 { true } else { false } } == 500 - base.pushes.count)
    }
}
