import Delivery
import Glibc
import HTTPTypes
import NIOCore
import NIOSSL
import PushCore
import Simulators

/// The way to one simulated service: the port that it listens on, and the connections to it.
actor ServiceLine {
    private let service: any SimulatedService
    private let isAPNs: Bool
    private let identity: ServerIdentity
    private let executor: any TaskExecutor
    private let onShortage: @Sendable (IOError) -> Void
    private var listener: ServiceListener?
    private var transport: (any ClosableTransport)?

    /// The simulators always answer, and a machine that is busy changes no result: real time is no part of a rehearsal.
    private static let patience = Duration.seconds(300)

    /// What came of an exchange.
    enum Outcome: Sendable {
        case answered(PushResponse)
        /// As was ordered.
        case broken(TransportError)
        /// Nobody ordered that.
        case failed(String)
    }

    /// - Parameters:
    ///   - executor: where the service works.
    ///   - onShortage: is told when a connection cannot be taken for want of files or memory.
    init(
        to service: any SimulatedService, isAPNs: Bool, identity: ServerIdentity, executor: any TaskExecutor,
        onShortage: @escaping @Sendable (IOError) -> Void
    ) {
        self.service = service
        self.isAPNs = isAPNs
        self.identity = identity
        self.executor = executor
        self.onShortage = onShortage
    }

    /// Nil while it is not open.
    var port: Int? { listener?.port }

    /// One at a time: the caller waits for the answer before the next.
    func exchange(_ request: HTTPRequest, body: [UInt8], breaking fault: WireFaults.Break?) async -> Outcome {
        do throws(TransportError) {
            let listener = try await opened()
            if let fault { return try await exchange(request, body, breaking: fault, listener) }
            let response = try await transport(to: listener).exchange(request, body: body)
            return .answered(response)
        } catch {
            // What failed now would be tried again otherwise.
            await hangUp()
            return .failed(error.reason)
        }
    }

    private func opened() async throws(TransportError) -> ServiceListener {
        if let listener { return listener }
        do {
            let listener = try await ServiceListener(service: service, identity: identity, executor: executor, onShortage: onShortage)
            self.listener = listener
            return listener
        } catch {
            let why = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw .notSent("it cannot listen on a port: \(why)")
        }
    }

    /// The connections are others afterwards, as after any break.
    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8], breaking fault: WireFaults.Break, _ listener: ServiceListener
    ) async throws(TransportError) -> Outcome {
        // A connection that is there would take the request.
        if fault == .beforeRequest { await hangUp() }
        listener.breakNext(fault == .beforeRequest ? .connection : .answer)
        let outcome: Outcome
        do throws(TransportError) {
            let response = try await transport(to: listener).exchange(request, body: body)
            outcome = .answered(response)
        } catch {
            outcome = fault.isFelt(as: error) ? .broken(fault.error) : .failed(error.reason)
        }
        listener.breakNext(nil)
        await hangUp()
        return outcome
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

extension TransportError {
    fileprivate var reason: String {
        switch self {
        case .notSent(let reason), .unknown(let reason), .forbidden(let reason): reason
        }
    }
}

/// A transport with connections.
private protocol ClosableTransport: PushTransport {
    func shutdown() async
}

extension SingleTransport: ClosableTransport {}
extension HTTPClientTransport: ClosableTransport {}
