import HummingbirdCore
import Logging
import NIOCore

/// The connections of the HTTP/1.1 port, as far as there is room for them.
struct LimitedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let admission: PortAdmission

    /// The limit is reached and no other connection is idle.
    private struct Full: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard admission.accepts(channel) else {
            // A channel that is not set up must be closed here.
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Full())
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
