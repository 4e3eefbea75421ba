import Delivery
import HTTPTypes
import NIOSSL
import PushCore
import Simulators

/// The way to one simulated service: the port that it listens on, and the connections to it.
actor ServiceLine {
    private let service: any SimulatedService
    private let isAPNs: Bool
    private let identity: ServerIdentity
    private let executor: any TaskExecutor
    private var listener: ServiceListener?
    private var transport: (any ClosableTransport)?

    /// The simulators always answer, and a machine that is busy changes no result: real time is no part of a rehearsal.
    private static let patience = Duration.seconds(300)

    /// - Parameter executor: where the service works.
    init(to service: any SimulatedService, isAPNs: Bool, identity: ServerIdentity, executor: any TaskExecutor) {
        self.service = service
        self.isAPNs = isAPNs
        self.identity = identity
        self.executor = executor
    }

    /// Nil while it is not open.
    var port: Int? { listener?.port }

    /// One at a time: the caller waits for the answer before the next.
    func exchange(
        _ request: HTTPRequest, body: [UInt8], breaking fault: WireFaults.Break?
    ) async -> Result<PushResponse, TransportError> {
        do throws(TransportError) {
            let listener = try await opened()
            guard let fault else {
                let response = try await transport(to: listener).exchange(request, body: body)
                return .success(response)
            }
            let response = try await exchange(request, body, breaking: fault, listener)
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    private func opened() async throws(TransportError) -> ServiceListener {
        if let listener { return listener }
        do {
            let listener = try await ServiceListener(service: service, identity: identity, executor: executor)
            self.listener = listener
            return listener
        } catch {
            throw .notSent("the simulated service cannot listen on a port of this machine: \(error)")
        }
    }

    /// The connections are others afterwards, as after any break.
    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8], breaking fault: WireFaults.Break, _ listener: ServiceListener
    ) async throws(TransportError) -> PushResponse {
        // A connection that is there would take the request.
        if fault == .beforeRequest { await hangUp() }
        listener.breakNext(fault == .beforeRequest ? .connection : .answer)
        let result: Result<PushResponse, TransportError>
        do throws(TransportError) {
            let response = try await transport(to: listener).exchange(request, body: body)
            result = .success(response)
        } catch {
            result = .failure(fault.isFelt(as: error) ? fault.error : error)
        }
        listener.breakNext(nil)
        await hangUp()
        return try result.get()
    }

    private func transport(to listener: ServiceListener) throws(TransportError) -> any ClosableTransport {
        if let transport { return transport }
        do {
            let roots = try TLSTrust.certificates(pem: Array(identity.certificate.utf8))
            let made: any ClosableTransport = isAPNs ? Self.pushes(to: listener.port, roots) : Self.requests(to: listener.port, roots)
            transport = made
            return made
        } catch {
            throw .notSent(error.message)
        }
    }

    private static func pushes(to port: Int, _ roots: [NIOSSLCertificate]) -> SingleTransport {
        var limits = Delivery.HTTP2Limits()
        (limits.connect, limits.answer) = (patience, patience)
        return SingleTransport(
            HTTP2Transport(
                route: PushRoute(host: "127.0.0.1", port: port), trust: TLSTrust(roots: .only(roots)), limits: limits,
                random: SystemRandom(), keepsHeaders: true))
    }

    private static func requests(to port: Int, _ roots: [NIOSSLCertificate]) -> HTTPClientTransport {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(roots)
        return HTTPClientTransport(
            route: WebAddress("https://127.0.0.1:\(port)"), limits: .init(connect: patience, exchange: patience), tls: tls)
    }

    private func hangUp() async {
        let old = transport
        transport = nil
        await old?.shutdown()
    }

    func end() async {
        await hangUp()
        await listener?.end()
        listener = nil
    }
}

extension WireFaults.Break {
    /// Whether this is how a sender learns of it. That an empty body was not asked for does not show in its request.
    fileprivate func isFelt(as error: TransportError) -> Bool {
        switch (self, error) {
        case (.beforeRequest, .notSent), (.beforeRequest, .unknown), (.afterRequest, .unknown): true
        default: false
        }
    }
}

/// A transport with connections.
private protocol ClosableTransport: PushTransport {
    func shutdown() async
}

extension SingleTransport: ClosableTransport {}
extension HTTPClientTransport: ClosableTransport {}
