import Glibc
import NIOCore

/// Handler below TLS that can reset the connection, as if the machine had lost its network.
final class ConnectionResetHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes with a linger time of zero: the system sends RST, and TLS no close_notify.
    func resetConnection() {
        guard let context else { return }
        if let socket = context.channel as? any SocketOptionProvider { _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
        context.close(promise: nil)
    }
}
