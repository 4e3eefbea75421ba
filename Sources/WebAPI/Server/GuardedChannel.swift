import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// The connections of a port, each with a ``ConnectionGuard``.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let limits: ConnectionLimits
    let connections: Connections

    /// The connection limit is reached and no connection is idle.
    private struct Full: Error {}

    /// Limits unsent data in the kernel (`TCP_NOTSENT_LOWAT`, tcp(7)). By default the kernel buffers megabytes, so that a slow reader seems
    /// not to read for minutes.
    private static var unsentBytes: ChannelOptions.Types.SocketOption { .init(level: .tcp, name: .init(rawValue: 25)) }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard connections.open(channel) else {
            // A channel that is not set up must be closed here.
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Full())
        }
        // Unix domain sockets do not have this option.
        try? channel.syncOptions?.setOption(Self.unsentBytes, value: 128 << 10)
        do {
            let account = connections.buffers.account(for: ClientAddress.name(of: channel.remoteAddress))
            let guardian = ConnectionGuard(limits: limits, connections: connections, account: account)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(guardian)
            let value = base.setup(channel: channel, logger: logger)
            // Only with TLS a client may choose HTTP/2.
            if let tls = try? pipeline.handler(type: NIOSSLServerHandler.self) {
                try pipeline.addHandler(FrameGuard(connection: guardian), position: .after(tls))
            }
            return value
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Runs on the connection's event loop, so that a request needs another thread only for storage.
    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
