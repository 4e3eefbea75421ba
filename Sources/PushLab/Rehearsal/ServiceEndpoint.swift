import Delivery
import Glibc
import HTTPTypes
import NIOCore
import NIOSSL
import PushModel
import PushRuntime
import Simulators

/// The listener of one simulated service and the connections to it.
actor ServiceEndpoint {
    private let service: any SimulatedService
    private let isAPNs: Bool
    private let identity: ServerIdentity
    private let executor: any TaskExecutor
    private let onResourceShortage: @Sendable (IOError) -> Void
    private var listener: ServiceListener?
    private var transport: (any ClosableTransport)?

    /// Timeout in real time. Long, because the simulators always answer and a busy machine must not change a result.
    private static let timeout = Duration.seconds(300)

    /// The result of an exchange.
    enum Outcome: Sendable {
        case answered(PushResponse)
        /// Broken by an injected fault.
        case broken(TransportError)
        /// Failed without an injected fault, with the reason.
        case failed(String)
    }

    /// - Parameters:
    ///   - executor: runs the service.
    ///   - onResourceShortage: called if a connection cannot be accepted for lack of file descriptors or memory.
    init(
        to service: any SimulatedService, isAPNs: Bool, identity: ServerIdentity, executor: any TaskExecutor,
        onResourceShortage: @escaping @Sendable (IOError) -> Void
    ) {
        self.service = service
        self.isAPNs = isAPNs
        self.identity = identity
        self.executor = executor
        self.onResourceShortage = onResourceShortage
    }

    /// The port; nil while the listener is closed.
    var port: Int? { listener?.port }

    /// Performs one exchange. Callers wait for the result before the next.
    func exchange(_ request: HTTPRequest, body: [UInt8], breaking fault: WireFaults.Break?) async -> Outcome {
        do throws(TransportError) {
            let listener = try await opened()
            if let fault { return try await exchange(request, body, breaking: fault, listener) }
            let response = try await transport(to: listener).exchange(request, body: body)
            return .answered(response)
        } catch {
            // Close the connection, so that the transport does not retry the request on it.
            await closeConnections()
            return .failed(error.reason)
        }
    }

    private func opened() async throws(TransportError) -> ServiceListener {
        if let listener { return listener }
        do {
            let listener = try await ServiceListener(
                service: service, identity: identity, executor: executor, onResourceShortage: onResourceShortage)
            self.listener = listener
            return listener
        } catch {
            let why = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw .notSent("cannot listen on a port: \(why)")
        }
    }

    /// Performs an exchange with an injected break, then discards the connections.
    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8], breaking fault: WireFaults.Break, _ listener: ServiceListener
    ) async throws(TransportError) -> Outcome {
        // Close an open connection, which would deliver the request.
        if fault == .beforeRequest { await closeConnections() }
        listener.breakNext(fault == .beforeRequest ? .connection : .answer)
        let outcome: Outcome
        do throws(TransportError) {
            let response = try await transport(to: listener).exchange(request, body: body)
            outcome = .answered(response)
        } catch {
            outcome = fault.isObservable(as: error) ? .broken(fault.error) : .failed(error.reason)
        }
        listener.breakNext(nil)
        await closeConnections()
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
        (limits.connect, limits.answer) = (timeout, timeout)
        return SingleTransport(
            HTTP2Transport(
                route: PushRoute(host: "127.0.0.1", port: port), trust: TLSTrust(roots: .only(roots)), limits: limits,
                random: SystemRandom(), recordsHeaders: true))
    }

    private static func requests(to port: Int, _ roots: [NIOSSLCertificate]) -> HTTPClientTransport {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(roots)
        return HTTPClientTransport(
            route: WebAddress("https://127.0.0.1:\(port)"), limits: .init(connect: timeout, exchange: timeout), tls: tls)
    }

    private func closeConnections() async {
        let old = transport
        transport = nil
        await old?.shutdown()
    }

    func end() async {
        await closeConnections()
        await listener?.end()
        listener = nil
    }
}

extension WireFaults.Break {
    /// Whether a sender sees the break as this error. A break before the request may also appear as `.unknown`, because the sender cannot
    /// tell whether an empty body was received.
    fileprivate func isObservable(as error: TransportError) -> Bool {
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

/// A transport whose connections can be closed.
private protocol ClosableTransport: PushTransport {
    func shutdown() async
}

extension SingleTransport: ClosableTransport {}
extension HTTPClientTransport: ClosableTransport {}
