import HummingbirdCore
import Logging
import NIOCore

/// The connections of a port, each with a guard before it.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let limits: ConnectionLimits
    let connections: Connections

    /// There are as many connections as may be, and all of them are in use.
    private struct Full: Error {}

    /// How much of what was written the system keeps before it is sent (`TCP_NOTSENT_LOWAT` of tcp(7)): it keeps megabytes else,
    /// and whoever reads slowly seems to read nothing for minutes.
    private static var unsentBytes: ChannelOptions.Types.SocketOption { .init(level: .tcp, name: .init(rawValue: 25)) }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard connections.open(channel) else {
            // Nobody else closes what is not set up.
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Full())
        }
        channel.closeFuture.whenComplete { [connections] _ in connections.close(channel) }
        // A socket of the file system has no such option.
        try? channel.syncOptions?.setOption(Self.unsentBytes, value: 128 << 10)
        do {
            let account = connections.buffers.account(for: ClientAddress.name(of: channel.remoteAddress))
            try channel.pipeline.syncOperations.addHandler(
                ConnectionGuard(limits: limits, connections: connections, account: account))
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    /// On the loop of the connection: there a request needs no other thread but for what it keeps.
    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
