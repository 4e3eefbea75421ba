import Glibc
import NIOCore

/// Stands below TLS, so that a connection can break off as if the machine had lost its network.
final class WireEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closed with a linger time of nothing, the system sends RST, and TLS says no farewell.
    func breakOff() {
        guard let context else { return }
        if let socket = context.channel as? any SocketOptionProvider { _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)) }
        context.close(promise: nil)
    }
}
