import NIOCore

/// Opens connections for a pool.
protocol PushDialer: AnyObject {
    /// Returns a connected channel on this loop. Its TLS handshake, if any, has started.
    func dial(on loop: any EventLoop) -> EventLoopFuture<any Channel>
    /// Checks the peer after the TLS handshake. Returns why it is not the expected one, or `nil`.
    func objection(to context: ChannelHandlerContext) -> String?
}
