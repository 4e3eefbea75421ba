import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The simulated push services behind one port: HTTP/1.1, told apart by the Host that a request names. Requests to the
/// machine itself (`127.0.0.1`, `localhost`) reach the control plane.
package struct SimulatorServer: Sendable {
    let responder: SimulatorResponder
    private let port: Int
    private let onShortage: @Sendable (IOError) -> Void

    /// - Parameters:
    ///   - port: Of the loopback interface; 0 takes a free one.
    ///   - adoptsHandles: Whether a handle that no phone has becomes a phone at the first push to it.
    ///   - closeCircle: How many phones are kept in full; iPhones beyond them that are adopted are only counted. Nil for all.
    ///   - adoptionLimit: How many handles may become phones; nil for what goes with `closeCircle`.
    ///   - chance: What refusals of a share of all notifications are drawn with; `random` for nil.
    ///   - certificate: What clients of TLS trust, PEM; for the control plane to hand out.
    ///   - ledger: Takes a line for every notification request, before it is answered.
    ///   - watcher: Told what becomes of pushes on the phones.
    ///   - onShortage: Told, for each port, when connections have to wait for want of files or memory.
    package init(
        port: Int, credentials: SimulatorCredentials, clock: SimulatorClock, random: SimulatorRandom, adoptsHandles: Bool = false,
        closeCircle: Int? = nil, adoptionLimit: Int? = nil, chance: SimulatorRandom? = nil, certificate: String? = nil,
        ledger: LedgerSink? = nil,
        watcher: PhoneWatcher? = nil, onShortage: @escaping @Sendable (IOError) -> Void = { _ in }
    ) {
        let site = SimulatedSite(
            credentials: credentials, clock: clock, random: random, adoptsHandles: adoptsHandles, closeCircle: closeCircle,
            adoptionLimit: adoptionLimit, chance: chance, watcher: watcher)
        let ledger = NotificationLedger(sink: ledger)
        let faults = ConnectionFaults()
        responder = SimulatorResponder(
            site: site, ledger: ledger,
            controlPlane: ControlPlane(site: site, ledger: ledger, connections: faults, certificate: certificate))
        self.port = port
        self.onShortage = onShortage
    }

    package var phones: PhoneLab { responder.site.phones }

    /// What a browser's app subscribes with: 65 bytes, uncompressed.
    package var applicationServerPublicKey: [UInt8] { responder.site.credentials.applicationServerPublicKey }

    package subscript(platform: PhonePlatform) -> any RefusingService { responder.site[platform] }

    /// The platform whose service answers for a request's host; nil when none does.
    package func platform(of request: HTTPRequest) -> PhonePlatform? {
        switch responder.destination(of: request) {
        case .apns: .apns
        case .service(let platform): platform
        case .controlPlane, .nobody: nil
        }
    }

    /// The hosts of each service; `*.` stands for any labels.
    package var hosts: [(platform: PhonePlatform, hosts: [String])] {
        PhonePlatform.allCases.map { ($0, responder.site.hosts(of: $0)) }
    }

    /// A service to run; `onRunning` is told the port as soon as it takes requests. Throws an `IOError` from `run` where the
    /// port cannot be had.
    package func application(onRunning: @escaping @Sendable (Int) async -> Void) -> some ApplicationProtocol {
        Application(
            responder: responder,
            server: .http1(configuration: .init(idleTimeout: .seconds(75))),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { [onShortage] channel in
                // The library takes any error of a port for its end.
                try? await channel.eventLoop.submit { try AcceptPause.watch(channel, tell: onShortage) }.get()
                await onRunning(channel.localAddress?.port ?? port)
            },
            logger: Logger(label: "simulators") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension SimulatorServer {
    /// Sets what APNs asks of provider tokens.
    package func change(_ rules: APNsTokenRules) { responder.site.change(rules) }

    /// What goes wrong with connections of TLS.
    package var connections: ConnectionFaults { responder.controlPlane.connections }

    /// Serves some of the services as they are, over TLS, beside the port of all. Their handles and credentials name this port from
    /// now on. Throws an `IOError` where the port cannot be had.
    ///
    /// - Parameters:
    ///   - port: Of the loopback interface; 0 takes a free one.
    ///   - threads: Event loops that share the connections.
    package func listen(
        port: Int, threads: Int, identity: ServerIdentity, serving selection: ServiceSelection
    ) async throws -> TLSListener {
        let responder = responder
        let protocols = selection.protocols
        let listener = try await TLSListener(
            port: port, threads: threads, tls: try identity.context(for: protocols), protocols: protocols, limits: HTTP2Limits(),
            onShortage: onShortage
        ) { SiteConnection(responder, serving: selection) }
        let authority = selection.authority ?? "localhost:\(listener.port)"
        responder.site.publish(ServiceAddress(authority: authority, platforms: selection.platforms))
        return listener
    }
}

/// Hands a request to the service or the control plane that its Host names.
struct SimulatorResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let site: SimulatedSite
    let ledger: NotificationLedger
    let controlPlane: ControlPlane

    /// Bytes of a request's body; far more than any service takes, so that they can refuse what is too large themselves.
    private static let largestBody = 65_536

    func respond(to request: Request, context: Context) async throws -> Response {
        let body: [UInt8]
        do {
            body = Array(try await request.body.collect(upTo: Self.largestBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            return Response(ControlRefusal.size(Self.largestBody).answer)
        }
        return Response(await answer(request.head, body: body))
    }

    private func answer(_ request: HTTPRequest, body: [UInt8]) async -> Answer {
        let (platform, service): (PhonePlatform, any RefusingService)
        switch destination(of: request) {
        case .apns(let environment): (platform, service) = (.apns, site[environment])
        case .service(let known): (platform, service) = (known, site[known])
        case .controlPlane: return controlPlane.handle(request, body: body)
        case .nobody: return ControlRefusal.host(request.host, hosts: PhonePlatform.allCases.flatMap { site.hosts(of: $0) }).answer
        }
        let (response, answerBody) = service.respond(to: request, body: body)
        if let summary = service.summary(of: request, body: body, answer: response, answerBody: answerBody) {
            await ledger.record(
                summary, service: platform, status: response.status.code, payload: body, time: site.clock.now())
        }
        return (response, answerBody)
    }

    /// What was sent to the services' own port, by a sender whose connections are led here, is told apart as there.
    func destination(of request: HTTPRequest) -> ServiceSelection.Destination {
        let address = site.phones.address
        if let authority = address.authority, request.authority?.lowercased() == authority.lowercased() {
            return ServiceSelection(address.platforms).destination(of: request, in: site)
        }
        if ControlPlane.hosts.contains(request.host) { return .controlPlane }
        return ServiceSelection().destination(of: request, in: site)
    }
}

extension Response {
    init(_ answer: Answer) {
        self.init(
            status: answer.response.status, headers: answer.response.headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
