import NIOCore

/// Stands before the parser of HTTP/1 and compares what a connection sends with what becomes of it: extensions of chunks and trailers
/// cost CPU and time without end, and the parser throws them away.
final class ChunkGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// A request has more bytes around its body than any client needs.
    struct TooMuchOverhead: Error {}

    /// Bytes that a request may have beside its body, beyond those that go with each byte of the body.
    static let tolerance = 128 << 10
    /// A body may come in chunks of one byte, each with its length and two line ends.
    private static let perByte = 16

    /// Bytes since the last head, and those that they may be.
    private var (sent, allowed) = (0, ChunkGuard.tolerance)
    private var isBroken = false

    /// A head was parsed: counts anew.
    func begin() { (sent, allowed) = (0, Self.tolerance) }

    /// A part of a body was parsed.
    func take(_ bytes: Int) { allowed += (1 + Self.perByte) * bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        // What came before has been parsed by now; this has not.
        guard sent <= allowed else {
            isBroken = true
            return context.fireErrorCaught(TooMuchOverhead())
        }
        sent += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }
}
