import Glibc
package import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Accepts TLS connections on a port of this machine, with HTTP/2, HTTP/1.1, or the one that the client chooses.
package final class TLSListener: Sendable {
    private let channel: any Channel
    /// `nil` if it uses the event loops of the process.
    private let ownLoops: MultiThreadedEventLoopGroup?
    private let connections: OpenConnections

    /// The actual port.
    package let port: Int

    /// Returns once connections are accepted. Throws an `IOError` if the port is not available.
    ///
    /// - Parameters:
    ///   - port: Port on the loopback interface; 0 picks a free one.
    ///   - threads: Number of separate event loops that share the connections; `nil` for those of the process.
    ///   - protocols: The supported protocols; those offered with ALPN are in `tls`.
    ///   - admission: Decides about each new connection. A rejected one is reset before anything is read.
    ///   - responder: Creates a responder for each connection; called on its event loop.
    init(
        port: Int, threads: Int?, tls: NIOSSLContext, protocols: [WireProtocol], limits: HTTP2Limits,
        admission: PortAdmission = PortAdmission(), responder: @escaping @Sendable () -> any ConnectionResponder
    ) async throws {
        let ownLoops = threads.map { MultiThreadedEventLoopGroup(numberOfThreads: $0) }
        self.ownLoops = ownLoops
        let connections = OpenConnections()
        self.connections = connections
        let bootstrap = ServerBootstrap(group: ownLoops ?? .singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { port in port.eventLoop.makeCompletedFuture { try admission.prepare(port) } }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard admission.accepts(channel) else { throw Refusal(channel) }
                    let wire = ConnectionResetHandler()
                    let choice = ProtocolNegotiator(
                        protocols: protocols, wire: wire, limits: limits, activity: ConnectionActivity(channel, admission.connections),
                        responder: responder)
                    // Accept any client certificate here: the service checks it, and its response says why it is rejected.
                    let secured = NIOSSLServerHandler(context: tls) { _, verdict in verdict.succeed(.certificateVerified) }
                    try channel.pipeline.syncOperations.addHandlers(wire, secured, choice)
                    connections.join(channel, NIOLoopBound(choice, eventLoop: channel.eventLoop))
                }
            }
        do {
            channel = try await bootstrap.bind(host: "127.0.0.1", port: port).get()
        } catch {
            try? await ownLoops?.shutdownGracefully()
            throw error
        }
        self.port = channel.localAddress?.port ?? port
        admission.connections?.watch(channel)
    }

    /// Stops accepting connections and lets open ones end as their responders decide. Those still open after `grace` are closed.
    package func end(grace: TimeAmount) async {
        try? await channel.close()
        await connections.end(grace: grace)
        try? await ownLoops?.shutdownGracefully()
    }
}

/// A refused connection. A linger time of zero makes closing it a TCP reset.
private struct Refusal: Error {
    init(_ channel: any Channel) {
        if let socket = channel as? any SocketOptionProvider { _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
    }
}

/// The open connections of a listener.
private final class OpenConnections: Sendable {
    private struct State {
        var members: [ObjectIdentifier: (channel: any Channel, choice: NIOLoopBound<ProtocolNegotiator>)] = [:]
        var isEnding = false
    }

    private let state = Mutex(State())

    func join(_ channel: any Channel, _ choice: NIOLoopBound<ProtocolNegotiator>) {
        let isLate = state.withLock { state in
            state.members[ObjectIdentifier(channel)] = (channel, choice)
            return state.isEnding
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { _ = $0.members.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        if isLate { channel.close(promise: nil) }
    }

    func end(grace: TimeAmount) async {
        let open = state.withLock { state in
            state.isEnding = true
            return Array(state.members.values)
        }
        for (channel, choice) in open {
            channel.eventLoop.execute { choice.value.endSoon(channel) }
            let deadline = channel.eventLoop.scheduleTask(in: grace) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in deadline.cancel() }
        }
        for (channel, _) in open { try? await channel.closeFuture.get() }
    }
}
