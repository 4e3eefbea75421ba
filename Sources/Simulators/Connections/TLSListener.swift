import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Takes connections over TLS on a port of this machine, with HTTP/2, HTTP/1.1, or whichever of them the client names.
package final class TLSListener: Sendable {
    private let channel: any Channel
    /// Nil where it uses those of the process.
    private let ownLoops: MultiThreadedEventLoopGroup?
    private let connections: OpenConnections

    /// The port that it has.
    package let port: Int

    /// Returns once connections are taken. Throws an `IOError` where the port cannot be had.
    ///
    /// - Parameters:
    ///   - port: Of the loopback interface; 0 takes a free one.
    ///   - threads: Event loops of its own that share the connections; nil for those of the process.
    ///   - protocols: What is spoken; what TLS is told is in `tls`.
    ///   - admits: Asked of each new connection: one that is not admitted breaks off before a byte of it is read.
    ///   - onShortage: Told once for each time that connections have to wait for want of files or memory; they are taken later.
    ///   - responder: Makes one for each connection; called on its event loop.
    init(
        port: Int, threads: Int?, tls: NIOSSLContext, protocols: [WireProtocol], limits: HTTP2Limits,
        admits: @escaping @Sendable () -> Bool = { true }, onShortage: @escaping @Sendable (IOError) -> Void = { _ in },
        responder: @escaping @Sendable () -> any ConnectionResponder
    ) async throws {
        let ownLoops = threads.map { MultiThreadedEventLoopGroup(numberOfThreads: $0) }
        self.ownLoops = ownLoops
        let connections = OpenConnections()
        self.connections = connections
        let bootstrap = ServerBootstrap(group: ownLoops ?? .singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { port in
                port.eventLoop.makeCompletedFuture { try AcceptPause.watch(port, tell: onShortage) }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard admits() else { throw Refusal(channel) }
                    let wire = WireEnd()
                    let choice = ProtocolChoice(protocols: protocols, wire: wire, limits: limits, responder: responder)
                    // Who sends with a certificate is the service's to judge, which says why where it does not like it.
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
    }

    /// Takes no more connections and lets the open ones end by themselves, as their responders do; those that are still open
    /// after `grace` are closed.
    package func end(grace: TimeAmount) async {
        try? await channel.close()
        await connections.end(grace: grace)
        try? await ownLoops?.shutdownGracefully()
    }
}

/// A connection that is not admitted. Closed with a linger time of nothing, it ends in a TCP reset.
private struct Refusal: Error {
    init(_ channel: any Channel) {
        if let socket = channel as? any SocketOptionProvider { _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
    }
}

/// The connections of a listener.
private final class OpenConnections: Sendable {
    private struct State {
        var members: [ObjectIdentifier: (channel: any Channel, choice: NIOLoopBound<ProtocolChoice>)] = [:]
        var isEnding = false
    }

    private let state = Mutex(State())

    func join(_ channel: any Channel, _ choice: NIOLoopBound<ProtocolChoice>) {
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
