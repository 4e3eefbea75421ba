package import HTTPTypes
package import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Serves the simulated push services on one HTTP/1.1 port, routed by Host. Requests to the machine itself (`127.0.0.1`, `localhost`) go to
/// the control plane.
package struct SimulatorServer: Sendable {
    let responder: SimulatorResponder
    private let port: Int
    private let onResourceShortage: @Sendable (IOError) -> Void

    /// - Parameters:
    ///   - port: Port on the loopback interface; 0 picks a free one.
    ///   - chance: Random source for faults with a share; `nil` for `random`.
    ///   - certificate: The server certificate as PEM, which the control plane returns.
    package init(
        port: Int, credentials: SimulatorCredentials, clock: SimulatorClock, random: SimulatorRandom,
        adoption: HandleAdoption = .disabled, chance: SimulatorRandom? = nil, certificate: String? = nil,
        observer: SimulatorObserver = SimulatorObserver()
    ) {
        let site = SimulatedSite(
            credentials: credentials, clock: clock, random: random, adoption: adoption, chance: chance, observer: observer.phones)
        let ledger = NotificationLedger(sink: observer.ledger)
        responder = SimulatorResponder(
            site: site, ledger: ledger,
            controlPlane: ControlPlane(site: site, ledger: ledger, connections: ConnectionFaults(), certificate: certificate))
        self.port = port
        onResourceShortage = observer.resourceShortage
    }

    package var phones: PhoneLab { responder.site.phones }

    /// The public key that a web app subscribes with: 65 bytes, uncompressed.
    package var applicationServerPublicKey: [UInt8] { responder.site.credentials.applicationServerPublicKey }

    package subscript(platform: PhonePlatform) -> any RefusingService { responder.site[platform] }

    /// The platform whose service answers this request; `nil` if there is none.
    package func platform(of request: HTTPRequest) -> PhonePlatform? {
        switch responder.destination(of: request) {
        case .apns: .apns
        case .service(let platform): platform
        case .controlPlane, .nobody: nil
        }
    }

    /// The hosts of each service; `*.` matches any labels.
    package var hosts: [(platform: PhonePlatform, hosts: [String])] {
        PhonePlatform.allCases.map { ($0, responder.site.hosts(of: $0)) }
    }

    /// A service to run. `run` throws an `IOError` if the port is not available.
    ///
    /// - Parameters:
    ///   - connections: The connections of all ports; nil for no limit.
    ///   - onRunning: Called with the port once it accepts requests.
    package func application(
        connections: (any PortConnections)? = nil, onRunning: @escaping @Sendable (Int) async -> Void
    ) -> some ApplicationProtocol {
        var responder = responder
        responder.connections = connections
        return Application(
            responder: responder,
            server: HTTPServerBuilder { responder in
                LimitedChannel(
                    base: HTTP1Channel(responder: responder, configuration: .init(idleTimeout: .seconds(75))),
                    admission: PortAdmission(connections: connections))
            },
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), availableConnectionsDelegate: connections?.acceptLimiter),
            onServerRunning: { [onResourceShortage] channel in
                connections?.watch(channel)
                // The server library would close the port on any accept error, so handle shortages here.
                try? await channel.eventLoop.submit { try AcceptShortageHandler.watch(channel, reportError: onResourceShortage) }.get()
                await onRunning(channel.localAddress?.port ?? port)
            },
            logger: Logger(label: "simulators") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension SimulatorServer {
    /// Sets the rules of APNs for provider tokens.
    package func change(_ rules: APNsTokenRules) { responder.site.change(rules) }

    /// Injects faults into TLS connections.
    package var connections: ConnectionFaults { responder.controlPlane.connections }

    /// Serves some of the services over TLS on another port. From now on their handles and credentials name this port. Throws an `IOError`
    /// if the port is not available.
    ///
    /// - Parameters:
    ///   - port: Port on the loopback interface; 0 picks a free one.
    ///   - threads: Number of event loops that share the connections.
    ///   - connections: The connections of all ports; nil for no limit.
    package func listen(
        port: Int, threads: Int, identity: ServerIdentity, serving selection: ServiceSelection,
        connections: (any PortConnections)? = nil
    ) async throws -> TLSListener {
        let responder = responder
        let protocols = selection.protocols
        let listener = try await TLSListener(
            port: port, threads: threads, tls: try identity.context(for: protocols), protocols: protocols, limits: HTTP2Limits(),
            admission: PortAdmission(connections: connections, onResourceShortage: onResourceShortage)
        ) { SiteConnection(responder, serving: selection) }
        let authority = selection.authority ?? "localhost:\(listener.port)"
        responder.site.publish(ServiceAddress(authority: authority, platforms: selection.platforms))
        return listener
    }
}

/// The connection of a request to the HTTP/1.1 port.
struct SimulatorRequestContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) { channel = source.channel }
}

/// Routes a request to a service or the control plane by its Host.
struct SimulatorResponder: HTTPResponder {
    let site: SimulatedSite
    let ledger: NotificationLedger
    let controlPlane: ControlPlane
    /// The connections of the HTTP/1.1 port; nil for no limit.
    var connections: (any PortConnections)?

    /// Maximum body size, in bytes; far above the limits of the services, so that they can reject large payloads themselves.
    private static let largestBody = 65_536

    func respond(to request: Request, context: SimulatorRequestContext) async throws -> Response {
        let body: [UInt8]
        do {
            body = Array(try await request.body.collect(upTo: Self.largestBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            return Response(ControlRefusal.size(Self.largestBody).answer)
        }
        connections?.busy(context.channel)
        defer { connections?.idle(context.channel) }
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

    /// Routes like the TLS port if the request names its authority, because a sender may redirect its connections here.
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
