import CNGHTTP2
import Crypto
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import Simulators

/// Simulated services on a socket, only APNs by default, and credentials for them.
final class SimulatorNetwork: Sendable {
    let server: SimulatorServer
    let listener: TLSListener
    let identity: ServerIdentity
    let credentials: SimulatorCredentials
    let time = ManualTime()
    /// The provider token of pushes, reused for 45 minutes like a good sender does.
    private let standing = Mutex<(token: String, issuedAt: Int64)?>(nil)

    init(
        _ settings: APNsHTTP2Settings = APNsHTTP2Settings(), serving platforms: Set<PhonePlatform> = [.apns],
        at authority: String? = nil, adopts: Bool = false, fullPhoneLimit: Int? = nil, adoptionLimit: Int? = nil, ledger: LedgerSink? = nil
    ) async throws {
        credentials = try #require(Self.credentials)
        identity = try #require(ServerIdentity(now: time.clock))
        server = SimulatorServer(
            port: 0, credentials: credentials, clock: time.clock, random: time.random,
            adoption: HandleAdoption(isEnabled: adopts, fullPhoneLimit: fullPhoneLimit, limit: adoptionLimit), chance: Self.chance,
            observer: SimulatorObserver(ledger: ledger))
        var selection = ServiceSelection(platforms)
        (selection.apns, selection.authority) = (settings, authority)
        listener = try await server.listen(port: 0, threads: 1, identity: identity, serving: selection)
    }

    /// SplitMix64 (Steele, Lea, Flood 2014), which serves as a random source.
    private static var chance: SimulatorRandom {
        let state = SplitMix()
        return SimulatorRandom { count in (0..<count).map { _ in state.next() } }
    }

    private final class SplitMix: Sendable {
        private let state = Mutex<UInt64>(7)

        func next() -> UInt8 {
            state.withLock { state in
                state &+= 0x9e37_79b9_7f4a_7c15
                var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
                return UInt8(truncatingIfNeeded: mixed ^ mixed >> 31)
            }
        }
    }

    /// Created once, because an RSA key takes long.
    private static let credentials = SimulatorCredentials(random: ManualTime().random)

    func end() async { await listener.end(grace: .minutes(5)) }

    func token(issuedAt: Int64? = nil) throws -> String {
        try TokenText.es256(
            header: #"{"alg":"ES256","kid":"\#(SimulatorCredentials.keyID)"}"#,
            claims: #"{"iss":"\#(SimulatorCredentials.teamID)","iat":\#(issuedAt ?? time.seconds)}"#, key: credentials.apnsKey)
    }

    private func standingToken() throws -> String {
        try standing.withLock { standing in
            if let standing, time.seconds - standing.issuedAt < 2700 { return standing.token }
            let made = try token()
            standing = (made, time.seconds)
            return made
        }
    }

    /// Adds a phone and returns its token.
    func phone(_ name: String, _ environment: APNsEnvironment = .production) throws -> String {
        let phone = server.phones.addPhone(
            PhoneDescription(name: name, platform: .apns, app: PhoneApp(SimulatorCredentials.app, environment: environment)))
        return try #require(server.phones.pushHandle(of: phone))
    }

    /// A request for an alert to a device.
    func push(
        to token: String, host: String = "api.push.apple.com", bearer: String? = nil, isBare: Bool = false
    ) throws -> [(String, String)] {
        let fields = [(":method", "POST"), (":scheme", "https"), (":authority", host), (":path", "/3/device/\(token)")]
        if isBare { return fields }
        return fields + [
            ("authorization", "bearer \(try bearer ?? standingToken())"), ("apns-topic", SimulatorCredentials.app),
            ("apns-push-type", "alert"),
        ]
    }

    /// The answer of the control plane.
    func control(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") throws -> JSONValue {
        let request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        let answer = server.responder.controlPlane.handle(request, body: Array(body.utf8))
        #expect((200...299).contains(answer.response.status.code), "\(path) \(String(decoding: answer.body, as: UTF8.self))")
        return try #require(JSONValue(answer.body))
    }

    static let hello = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)
}

/// One connection of an HTTP/2 client.
actor HTTP2Caller {
    private let channel: any Channel
    private let bound: NIOLoopBound<Conversation>

    /// State of the connection: its codec and the received data.
    final class Conversation: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let client: HTTP2Client
        var context: ChannelHandlerContext?
        private var waiters: [(isDone: (HTTP2Client, Bool) -> Bool, promise: EventLoopPromise<Void>)] = []
        var isClosed = false

        init() throws { client = try HTTP2Client(trusting: 1) }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            client.receive(Array(unwrapInboundIn(data).readableBytesView))
            pump()
        }

        func channelInactive(context: ChannelHandlerContext) {
            isClosed = true
            pump()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func wait(until isDone: @escaping (HTTP2Client, Bool) -> Bool, _ promise: EventLoopPromise<Void>) {
            waiters.append((isDone, promise))
            pump()
        }

        func pump() {
            let bytes = client.takeBytes()
            if !bytes.isEmpty, !isClosed { context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
            let ready = waiters.filter { $0.isDone(client, isClosed) }
            waiters.removeAll { $0.isDone(client, isClosed) }
            for waiter in ready { waiter.promise.succeed() }
        }
    }

    /// - Parameter certificate: The client certificate and key to present, as PEM.
    init(_ network: SimulatorNetwork, certificate: (certificate: String, key: String)? = nil, protocols: [String] = ["h2"]) async throws {
        try await self.init(
            port: network.listener.port, trusting: network.identity.certificate, certificate: certificate, protocols: protocols)
    }

    /// - Parameter root: The certificate that the server presents, as PEM.
    init(
        port: Int, trusting root: String, certificate: (certificate: String, key: String)? = nil, protocols: [String] = ["h2"]
    ) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(root.utf8)))
        configuration.applicationProtocols = protocols
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)).map {
                .certificate($0)
            }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem))
        }
        // The certificate is valid at the time of a fixed clock, which may differ from the machine's.
        configuration.certificateVerification = .none
        let context = try NIOSSLContext(configuration: configuration)
        let group = NIOSingletons.posixEventLoopGroup
        let (channel, bound) = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                let conversation = try Conversation()
                try channel.pipeline.syncOperations.addHandlers(
                    try NIOSSLClientHandler(context: context, serverHostname: "api.push.apple.com"), conversation)
                return (channel, NIOLoopBound(conversation, eventLoop: channel.eventLoop))
            }
        }
        self.channel = channel
        self.bound = bound
    }

    /// Runs a closure with the connection's client on its event loop.
    func act<Value: Sendable>(_ work: @escaping @Sendable (HTTP2Client) -> Value) async throws -> Value {
        try await channel.eventLoop.submit { [bound] in
            defer { bound.value.pump() }
            return work(bound.value.client)
        }.get()
    }

    /// Returns once the client, or the end of the connection, fulfils a condition.
    func wait(until isDone: @escaping @Sendable (HTTP2Client, _ isClosed: Bool) -> Bool) async throws {
        try await channel.eventLoop.flatSubmit { [bound, channel] in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            // A guard against hanging, not a measurement.
            let guardian = channel.eventLoop.scheduleTask(in: .minutes(5)) { promise.fail(ChannelError.eof) }
            promise.futureResult.whenComplete { _ in guardian.cancel() }
            bound.value.wait(until: isDone, promise)
            return promise.futureResult
        }.get()
    }

    /// Sends a request and waits for its answer; the status is 0 if the connection or the stream ends without one.
    func send(_ fields: [(String, String)], _ body: [UInt8] = SimulatorNetwork.hello) async throws -> HTTP2Client.Answer {
        let stream = try await act { $0.request(fields, body: body) }
        try await wait { client, isClosed in client.answers[stream]?.code != nil || isClosed }
        return try await act { $0.answers[stream] ?? HTTP2Client.Answer() }
    }

    func close() async throws { try? await channel.close() }
}

extension HTTP2Client.Answer {
    /// The status and the reason, such as `400 BadTopic`; `200` when accepted.
    var verdict: String { (JSONValue(body)?["reason"]?.string).map { "\(status) \($0)" } ?? String(status) }
}
