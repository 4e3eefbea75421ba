import NIOCore
import NIOPosix
import NIOSSL
import PushModel
import Testing

@testable import Delivery

/// The client over real sockets with TLS, against a server on another library.
@Suite struct HTTP2TransportTests {
    private let dice = Dice(seed: 1)

    private func behaviour(_ name: String) -> TortureBehaviour {
        var dice = dice
        return TortureBehaviour(name, &dice)
    }

    private func transport(
        _ server: PeerServer, _ trust: TLSTrust, limits: HTTP2Limits = HTTP2Limits().generous, name: String = "localhost"
    ) -> HTTP2Transport {
        var route = server.route
        route.name = name
        return HTTP2Transport(route: route, trust: trust, limits: limits, random: SeededRandom(seed: 1))
    }

    @Test(arguments: [
        "plain", "limit", "drop", "refusal", "rejection", "reset", "early", "big headers", "pings", "goodbye", "two goodbyes", "cut",
        "tiny window", "large bodies", "padding", "table",
    ])
    func `over TLS the service's ledger agrees with every outcome`(name: String) async throws {
        let identity = try TestIdentity()
        let behaviour = behaviour(name)
        let server = try await PeerServer(behaviour, identity: identity)
        let transport = transport(server, identity.trust)
        let batches = (1...10).map { PushBatch.test($0, count: 30, body: min(behaviour.body, 900)) }
        let (faults, outcomes) = try await server.send(batches, over: transport)
        #expect(faults == [])
        #expect(outcomes.count == 300)
        #expect(outcomes.count { $0.isAnswered } > 0)
        if !["reset", "cut"].contains(name) { #expect(outcomes.allSatisfy { $0.isAnswered }) }
        if name.hasSuffix("goodbye") || name == "two goodbyes" { #expect(try await server.connections > 1) }
        await transport.shutdown()
        try await server.stop()
    }

    private func refusal(_ outcomes: [PushOutcome]) throws -> String {
        guard case .notSent(let failure) = try #require(outcomes.first) else {
            Issue.record("\(outcomes)")
            return ""
        }
        #expect(Set(outcomes.map(\.isNotSent)) == [true])
        return failure.text
    }

    private func failure(
        trust: (TestIdentity) -> TLSTrust, protocols: [String] = ["h2"], name: String = "localhost"
    ) async throws -> String {
        let identity = try TestIdentity()
        let server = try await PeerServer(behaviour("plain"), identity: identity, protocols: protocols)
        let transport = transport(server, trust(identity), name: name)
        let (faults, outcomes) = try await server.send([.test(1, count: 3)], over: transport)
        #expect(faults == [])
        await transport.shutdown()
        try await server.stop()
        return try refusal(outcomes)
    }

    @Test func `a server without a trusted certificate is not sent any request`() async throws {
        let other = try TestIdentity()
        #expect(try await failure { _ in TLSTrust() }.contains("not trusted"))
        #expect(try await failure { _ in other.trust }.contains("not trusted"))
    }

    @Test func `a server with a certificate for another name is not sent any request`() async throws {
        #expect(try await failure(trust: { $0.trust }, name: "api.push.apple.com") == "its certificate is for another name")
    }

    @Test func `a server without HTTP 2 is not sent any request, and the error says why`() async throws {
        #expect(try await failure(trust: { $0.trust }, protocols: []).contains("does not speak HTTP/2"))
        #expect(try await failure(trust: { $0.trust }, protocols: ["http/1.1"]).contains("HTTP/2"))
    }

    @Test func `a pinned host is sent requests only with its own key`() async throws {
        let other = try TestIdentity()
        let text = try await failure { TLSTrust(roots: $0.trust.roots, pins: ["localhost": other.pin]) }
        #expect(text == "its key is not the one that the settings pin for localhost")
        let identity = try TestIdentity()
        let server = try await PeerServer(behaviour("plain"), identity: identity)
        let transport = transport(server, TLSTrust(roots: identity.trust.roots, pins: ["localhost": identity.pin]))
        #expect(try await server.send([.test(1, count: 3)], over: transport).outcomes.allSatisfy { $0.isAnswered })
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `a sender with a certificate presents it, on separate connections`() async throws {
        let (identity, client) = (try TestIdentity(), try TestIdentity("sender"))
        let server = try await PeerServer(behaviour("plain"), identity: identity, clients: [client.certificate])
        let transport = transport(server, identity.trust)
        let (faults, outcomes) = try await server.send([.test(1, count: 20, certificate: client.client)], over: transport)
        #expect(faults == [])
        #expect(outcomes.allSatisfy { $0.isAnswered })
        #expect(try await server.clientNames.first?.contains("sender") == true)
        // Without a certificate the server refuses the connection.
        #expect(try await server.send([.test(2, count: 1)], over: transport).outcomes.allSatisfy { !$0.isAnswered })
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `senders of two teams do not share a connection`() async throws {
        let identity = try TestIdentity()
        let server = try await PeerServer(behaviour("plain"), identity: identity)
        let transport = transport(server, identity.trust)
        let batches = (1...6).map { PushBatch.test($0, count: 10, sender: $0 % 2 == 0 ? "even" : "odd") }
        #expect(try await server.send(batches, over: transport).outcomes.allSatisfy { $0.isAnswered })
        #expect(try await server.connections == 2)
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `a sender beyond the limit of waiting pushes is suspended`() async throws {
        let identity = try TestIdentity()
        var behaviour = behaviour("plain")
        behaviour.streams = 1_000
        let server = try await PeerServer(behaviour, identity: identity)
        var limits = HTTP2Limits().generous
        (limits.pushes, limits.streams) = (40, 1_000)
        let transport = transport(server, identity.trust, limits: limits)
        let (faults, outcomes) = try await server.send((1...50).map { .test($0, count: 15) }, over: transport)
        #expect(faults == [])
        #expect(outcomes.count { $0.isAnswered } == 750)
        #expect(try await server.mostWaiting <= 40)
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `after the shutdown nothing is sent, and a refused connection names the address`() async throws {
        let identity = try TestIdentity()
        let server = try await PeerServer(behaviour("plain"), identity: identity)
        let transport = transport(server, identity.trust)
        #expect(try await server.send([.test(1, count: 3)], over: transport).outcomes.allSatisfy { $0.isAnswered })
        await transport.shutdown()
        #expect(try refusal(await transport.send(.test(2, count: 3))) == "the server is shutting down")
        try await server.stop()
        let port = ClosedPort()
        let lost = HTTP2Transport(
            route: PushRoute(host: "127.0.0.1", port: port.number), trust: identity.trust, random: SeededRandom(seed: 1))
        #expect(try refusal(await lost.send(.test(3, count: 3))).contains("Connection refused"))
        // Apple's host is not involved.
        let connector = try APNsConnector(settings: Accounts.apns, transport: lost, clock: VirtualClock(now: Accounts.start))
        guard case .transient(let rejection, _)? = await connector.deliver(.apns()).first else {
            Issue.record("no transient verdict")
            return
        }
        #expect(rejection.explanation.hasPrefix("127.0.0.1:\(port.number) could not be reached ("), "\(rejection.explanation)")
        await lost.shutdown()
        let origin = PushOrigin(authority: Accounts.apns.environment.host)
        #expect(HTTP2Transport(random: SeededRandom(seed: 1)).destination(of: origin) == "api.push.apple.com:443")
    }

    @Test func `a cancelled sender has an outcome for every push`() async throws {
        let identity = try TestIdentity()
        let server = try await PeerServer(behaviour("plain"), identity: identity)
        let transport = transport(server, identity.trust)
        let outcomes = await withTaskGroup(of: [PushOutcome].self) { group in
            group.cancelAll()
            group.addTask { await transport.send(.test(1, count: 50)) }
            return await group.next() ?? []
        }
        #expect(outcomes.count == 50)
        #expect(outcomes.allSatisfy { $0 == .notSent(.cancelled) || $0.isAnswered })
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `the connector delivers over this transport, with an id per device`() async throws {
        let identity = try TestIdentity()
        var behaviour = behaviour("rejection")
        behaviour.isLoose = true
        let server = try await PeerServer(behaviour, identity: identity)
        let transport = transport(server, identity.trust)
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: VirtualClock(now: Accounts.start))
        let verdicts = await connector.deliver(.apns(tokens: (0..<600).map { "00FC13ADFF78" + String(1_000 + $0) }))
        let ids = verdicts.compactMap { if case .accepted(let id) = $0 { id } else { nil } }
        #expect(ids.count == 400)
        #expect(Set(ids).count == 400)
        #expect(ids.allSatisfy { PushID($0) != nil })
        let rejections = verdicts.compactMap(\.rejection)
        #expect(rejections.count == 200)
        #expect(
            rejections.allSatisfy {
                $0.reason == "Unregistered" && $0.isHandleInvalid && $0.invalidSince == Timestamp(milliseconds: 1_700_000_000_000)
            }
        )
        await transport.shutdown()
        try await server.stop()
    }
}
