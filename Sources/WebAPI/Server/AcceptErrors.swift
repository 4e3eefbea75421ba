import NIOCore

/// Keeps a port open where a connection could not be taken: for want of files or memory, or because its client was gone already.
/// The library takes any error of a port for its end.
final class AcceptErrors: ChannelInboundHandler {
    typealias InboundIn = any Channel

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !(error is IOError) else { return }
        context.fireErrorCaught(error)
    }

    /// Between two attempts there is a second in which files may become free.
    static func watch(_ port: any Channel) async throws {
        try await port.eventLoop.submit {
            // Another port may have kept the server from its start.
            guard port.isActive else { return }
            // How many are taken before it is asked again whether there is room.
            try port.syncOptions?.setOption(.maxMessagesPerRead, value: 4)
            try port.pipeline.syncOperations.addHandlers([AcceptBackoffHandler(), AcceptErrors()], position: .first)
        }.get()
    }
}
