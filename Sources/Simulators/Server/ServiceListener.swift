import HTTPTypes
package import NIOCore
import NIOPosix
import Synchronization

/// Serves one simulated service on a free port of the loopback interface, over HTTP/2 and TLS, with connection faults on demand.
package final class ServiceListener: Sendable {
    /// A single connection fault.
    package enum Break: Sendable {
        /// Resets the next connection, before TLS.
        case connection
        /// Resets the connection of the next request, after the service has processed it, instead of sending the response.
        case answer
    }

    private let listener: TLSListener
    private let breaks: ConnectionBreaks

    /// Returns once connections are accepted. Throws an `IOError` if no port is available, and TLS errors for an invalid identity.
    ///
    /// - Parameters:
    ///   - executor: Executor of the service; `nil` for the default.
    ///   - connections: The connections of all ports; nil for no limit.
    ///   - onResourceShortage: Called when connections must wait because file handles or memory are exhausted.
    package init(
        service: any SimulatedService, identity: ServerIdentity, executor: (any TaskExecutor)? = nil,
        connections: (any PortConnections)? = nil,
        onResourceShortage: @escaping @Sendable (IOError) -> Void = { _ in }
    ) async throws {
        let breaks = ConnectionBreaks()
        self.breaks = breaks
        listener = try await TLSListener(
            port: 0, threads: nil, tls: try identity.context(for: [.http2]), protocols: [.http2], limits: HTTP2Limits(),
            admission: PortAdmission(
                connections: connections, admits: { !breaks.take(.connection) }, onResourceShortage: onResourceShortage)
        ) { ServiceResponder(service, breaks: breaks, executor: executor) }
    }

    package var port: Int { listener.port }

    /// Starts the event loops of the process, which otherwise start with the first listener.
    package static func beginLoops() { _ = NIOSingletons.posixEventLoopGroup }

    /// Sets the next fault, replacing one that has not occurred yet; `nil` removes it.
    package func breakNext(_ kind: Break?) { breaks.order(kind) }

    /// Stops accepting connections and closes those that are open.
    package func end() async { await listener.end(grace: .seconds(1)) }
}

/// The pending fault, if any.
private final class ConnectionBreaks: Sendable {
    private let due = Mutex<ServiceListener.Break?>(nil)

    func order(_ kind: ServiceListener.Break?) { due.withLock { $0 = kind } }

    func take(_ kind: ServiceListener.Break) -> Bool {
        due.withLock { due in
            guard due == kind else { return false }
            due = nil
            return true
        }
    }
}

/// Passes the requests of one connection to a service.
private final class ServiceResponder: ConnectionResponder {
    private let service: any SimulatedService
    private let breaks: ConnectionBreaks
    private let executor: (any TaskExecutor)?
    private var isOpen = true

    private static let streams: UInt32 = 100

    init(_ service: any SimulatedService, breaks: ConnectionBreaks, executor: (any TaskExecutor)?) {
        // APNs authenticates per connection, so each connection needs its own state.
        self.service = (service as? APNsSimulator)?.openConnection() ?? service
        self.breaks = breaks
        self.executor = executor
    }

    func open(_ connection: any ServerConnection, certificate: [UInt8]?) -> UInt32 { Self.streams }

    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: any ServerConnection) {
        guard let loop = connection.eventLoop else { return }
        let here = NIOLoopBound((self, connection), eventLoop: loop)
        Task(executorPreference: executor) { [service] in
            let (response, answer) = await service.handle(request, body: body)
            loop.execute {
                let (responder, connection) = here.value
                responder.give(response, answer, stream: stream, on: connection)
            }
        }
    }

    private func give(_ response: HTTPResponse, _ body: [UInt8], stream: Int32, on connection: any ServerConnection) {
        if breaks.take(.answer) { return connection.resetConnection() }
        if isOpen { connection.respond(to: stream, response, body: body, goAwayData: nil) }
    }

    func end(_ connection: any ServerConnection) { connection.close() }

    func closed(_ connection: any ServerConnection) { isOpen = false }
}
