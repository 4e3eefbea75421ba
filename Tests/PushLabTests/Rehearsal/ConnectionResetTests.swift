import Delivery
import NIOCore
import PushModel
import PushRuntime
import Simulators
import Support
import Testing

@testable import PushLab

/// Connections that the service resets, over real sockets. A sender repeats only requests that the service received and did not answer.
@Suite struct ConnectionResetTests {
    /// A service with adopted phones that resets the connection at every n-th request.
    private struct Bench {
        let server: SimulatorServer
        let listener: TLSListener
        let transport: HTTP2Transport
        /// A client for access tokens, and for services that speak HTTP/1.1.
        let client: HTTPClientTransport
        let account: JSON

        init(_ platform: PhonePlatform, resetEvery: Int) async throws {
            let (clock, random) = (SystemClock(), SimulatorRandom(bytes: SystemRandom().bytes))
            let time = SimulatorClock(now: { clock.now.milliseconds })
            let credentials = try SimulatorCredentials.generated(random)
            server = SimulatorServer(port: 0, credentials: credentials, clock: time, random: random, adoption: HandleAdoption())
            let identity = try #require(ServerIdentity(now: time))
            listener = try await server.listen(port: 0, threads: 1, identity: identity, serving: ServiceSelection([platform]))
            server.connections.change { $0.resetEvery = resetEvery }
            let roots = try TLSTrust.certificates(pem: Array(identity.certificate.utf8))
            let trust = TLSTrust(roots: .only(roots))
            var limits = Delivery.HTTP2Limits()
            (limits.connect, limits.answer) = (.seconds(300), .seconds(300))
            transport = HTTP2Transport(
                route: PushRoute(host: "127.0.0.1", port: listener.port, name: "localhost"), trust: trust, limits: limits,
                random: SeededRandom(seed: 1))
            client = HTTPClientTransport(
                route: WebAddress("https://localhost:\(listener.port)"), limits: .init(connect: .seconds(300), exchange: .seconds(300)),
                tls: trust.configuration(showing: nil), isHTTP1: true)
            account = try JSON(parsing: credentials.text)
        }

        /// The number of pushes on each phone.
        var inboxes: [Int] { server.phones.phones.map { server.phones.inbox(of: $0).count } }

        func end() async {
            await transport.shutdown()
            await client.shutdown()
            await listener.end(grace: .seconds(1))
        }
    }

    /// Sends until all requests have a response. Repeats those without one in each round.
    ///
    /// - Parameter send: returns the requests that got no response.
    private func sendAll(_ count: Int, _ send: ([Int]) async throws -> [Int]) async throws {
        var open = Array(0..<count)
        // A reset costs at most one request, so that each round makes progress.
        for _ in 0..<count where !open.isEmpty { open = try await send(open) }
        #expect(open.isEmpty)
    }

    /// - Parameter grants: number of requests for access tokens, which count toward a reset.
    private func expectFewRepeats(
        _ inboxes: [Int], phones: Int, every: Int, grants: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let pushes = inboxes.reduce(0, +)
        let resets = (pushes + grants) / every
        #expect(inboxes.count == phones && inboxes.allSatisfy { $0 >= 1 }, sourceLocation: sourceLocation)
        #expect(resets > 0 && pushes - phones <= resets, "\(pushes) pushes, \(resets) resets", sourceLocation: sourceLocation)
    }

    @Test(arguments: [(60, 5), (60, 2), (1_000, 50), (2_000, 300)])
    func `a reset by APNs makes a sender repeat at most one push`(phones: Int, every: Int) async throws {
        let bench = try await Bench(.apns, resetEvery: every)
        func text(_ name: String) throws -> String { try #require(bench.account["apns"]?[name]?.string) }
        let connector = try APNsConnector(
            settings: APNsSettings(
                teamID: text("team_id"), keyID: text("key_id"), privateKey: Secret(text("private_key")), topic: text("topic")),
            transport: bench.transport, clock: SystemClock())
        try await sendAll(phones) { open in
            let handles = open.map { DeviceHandle.apns(token: String(repeating: "0", count: 56) + String(10_000_000 + $0)) }
            let verdicts = await connector.deliver(
                DeliveryBatch(
                    notificationID: "n1", platform: .apns, body: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), handles: handles))
            return zip(open, verdicts).filter { !$0.1.isAccepted }.map(\.0)
        }
        expectFewRepeats(bench.inboxes, phones: phones, every: every)
        await bench.end()
    }

    @Test(arguments: [(60, 5), (600, 50)])
    func `a reset by FCM makes a sender repeat at most one push`(phones: Int, every: Int) async throws {
        let bench = try await Bench(.fcm, resetEvery: every)
        let account = try #require(bench.account["fcm"])
        // An installation id has 22 characters.
        let installations: UInt128 = 1_000_000_000_000_000_000_000
        let connector = try FCMConnector(
            settings: FCMSettings(serviceAccount: Array(account.text().utf8)), transport: bench.transport, grants: bench.client,
            clock: SystemClock())
        try await sendAll(phones) { open in
            let handles = open.map {
                DeviceHandle.fcmV1(token: "\(installations + UInt128($0)):APA91b" + String(repeating: "x", count: 130))
            }
            let verdicts = await connector.deliver(
                DeliveryBatch(
                    notificationID: "n1", platform: .fcmV1, body: Array(#"{"message":{"notification":{"body":"Hello"}}}"#.utf8),
                    handles: handles))
            return zip(open, verdicts).filter { !$0.1.isAccepted }.map(\.0)
        }
        expectFewRepeats(bench.inboxes, phones: phones, every: every, grants: 1)
        await bench.end()
    }

    @Test(arguments: [1, 4])
    func `a reset by WNS makes a sender repeat at most one push`(width: Int) async throws {
        let bench = try await Bench(.wns, resetEvery: 5)
        func text(_ name: String) throws -> String { try #require(bench.account["wns"]?[name]?.string) }
        let host = "localhost:\(bench.listener.port)"
        let connector = try WNSConnector(
            settings: WNSSettings(
                packageSID: text("package_sid"), clientSecret: Secret(text("client_secret")), channelHosts: [host]),
            transport: bench.client, width: width, clock: SystemClock())
        let body = #"<toast><visual><binding template="ToastText01"><text id="1">Hello</text></binding></visual></toast>"#
        try await sendAll(60) { open in
            let handles = open.map { DeviceHandle.wns(channel: "https://\(host)/?token=tok\(1_000 + $0)") }
            let verdicts = await connector.deliver(
                DeliveryBatch(notificationID: "n1", platform: .wns, body: Array(body.utf8), handles: handles))
            return zip(open, verdicts).filter { !$0.1.isAccepted }.map(\.0)
        }
        expectFewRepeats(bench.inboxes, phones: 60, every: 5, grants: 1)
        await bench.end()
    }

    @Test func `a reset by a Web Push service makes a sender repeat at most one push`() async throws {
        let bench = try await Bench(.browser, resetEvery: 5)
        let origin = PushOrigin(authority: "localhost:\(bench.listener.port)")
        let headers = HeaderTemplate(origin: origin, authorization: nil, fields: [PushHeader("ttl", "60")])
        try await sendAll(60) { open in
            var batch = PushBatch(headers: headers, body: [], capacity: open.count)
            for number in open { batch.append(id: nil) { $0 += Array("/wpush/v2/\(1_000 + number)".utf8) } }
            let outcomes = await bench.transport.send(batch)
            return zip(open, outcomes).filter { if case .answered = $0.1 { false } else { true } }.map(\.0)
        }
        expectFewRepeats(bench.inboxes, phones: 60, every: 5)
        await bench.end()
    }
}

extension Verdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
