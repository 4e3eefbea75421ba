import NIOCore

/// Limits the overhead of HTTP/1 chunked encoding. It sits before the parser and compares the bytes received with the bytes parsed: chunk
/// extensions and trailers can use unlimited CPU and time, and the parser discards them.
final class ChunkGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// A request has more bytes in addition to its body than any client needs.
    struct ExcessiveOverhead: Error {}

    /// Bytes that a request may have in addition to its body and the allowance per body byte.
    static let tolerance = 128 << 10
    /// Allowance per body byte: a body may arrive in chunks of one byte, each with its length and two line ends.
    private static let perByte = 16

    /// Bytes received since the last head, and the maximum.
    private var (sent, allowed) = (0, ChunkGuard.tolerance)
    private var isBroken = false

    /// Restarts the count after a parsed head.
    func begin() { (sent, allowed) = (0, Self.tolerance) }

    /// Raises the maximum after a parsed part of a body.
    func take(_ bytes: Int) { allowed += (1 + Self.perByte) * bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        // Everything received before this read has been parsed by now.
        guard sent <= allowed else {
            isBroken = true
            return context.fireErrorCaught(ExcessiveOverhead())
        }
        sent += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }
}
