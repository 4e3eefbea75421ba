import NIOCore

/// Counts the DATA frames of an HTTP/2 connection between TLS and the HTTP/2 parser. Reserves memory for frames that their streams have not
/// read, and ends connections that send too many small frames. On an HTTP/1.1 connection it does nothing.
///
/// The parser stores each frame, or the part of one that a read contains, on its own until the stream reads. A stream that reads gets all
/// of them, so those that wait are those that arrived since.
final class FrameGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Estimated memory of a stored frame without its bytes.
    static let frameBytes = 128

    /// The connection preface (RFC 9113, section 3.4).
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let headerBytes = 9
    private static let (dataType, headersType, goAwayType) = (UInt8(0), UInt8(1), UInt8(7))
    private static let endStream: UInt8 = 1
    private static let enhanceYourCalm: UInt32 = 11

    private let connection: ConnectionGuard
    /// Number of received bytes of the preface; nil for another protocol.
    private var matched: Int? = 0
    /// The received part of a frame header.
    private var header = ByteBuffer()
    /// The stream of the current frame if it is a DATA frame, and the number of its bytes that have not arrived.
    private var (stream, rest): (Int?, Int) = (nil, 0)
    /// Bytes that wait for each open stream.
    private var waiting: [Int: Int] = [:]
    private var (total, reserved) = (0, 0)
    private var smallFrames = SmallFrameLimit()
    /// Whether the parser is reading bytes that were counted already.
    private var isParsing = false
    private var isOver = false

    init(connection: ConnectionGuard) { self.connection = connection }

    func handlerRemoved(context: ChannelHandlerContext) {
        (waiting, total) = ([:], 0)
        settle()
    }

    // MARK: - Streams

    /// Begins to count the frames of a stream. Must be paired with `close`.
    func open(_ stream: Int) { waiting[stream] = 0 }

    /// A stream has read all frames that waited for it.
    func delivered(_ stream: Int) {
        // A frame that was counted may still be with the parser. The stream's next read releases it.
        guard !isParsing else { return }
        release(stream)
        if total < reserved { settle() }
    }

    func close(_ stream: Int) {
        release(stream)
        waiting[stream] = nil
        if total < reserved { settle() }
    }

    private func release(_ stream: Int) {
        guard let bytes = waiting[stream] else { return }
        waiting[stream] = 0
        total -= bytes
    }

    /// Reserves or releases the difference to what waits. Returns false if there is no memory left.
    @discardableResult
    private func settle() -> Bool {
        if total > reserved {
            guard connection.reserve(total - reserved) else { return false }
        } else if total < reserved {
            connection.release(reserved - total)
        }
        reserved = total
        return true
    }

    // MARK: - Bytes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        guard matched != nil else { return context.fireChannelRead(data) }
        let all = unwrapInboundIn(data)
        var (bytes, parsed) = (all, all.readerIndex)
        readPreface(&bytes)
        while !isOver, matched == Self.preface.count, bytes.readableBytes > 0 {
            if rest > 0 {
                let part = min(rest, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: part)
                rest -= part
                count(part)
                continue
            }
            let start = bytes.readerIndex
            guard let frame = readHeader(&bytes) else { break }
            if frame.type == Self.dataType, waiting[frame.stream] == nil {
                // The parser opens the stream when it reads the head.
                pass(all, from: parsed, to: start, context)
                parsed = start
            }
            begin(frame, context)
        }
        guard !isOver else { return }
        pass(all, from: parsed, to: all.writerIndex, context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most streams read now what has arrived for them.
        context.fireChannelReadComplete()
        guard !isOver, !settle() else { return }
        connection.noteRefusal()
        isOver = true
        context.close(promise: nil)
    }

    private func pass(_ bytes: ByteBuffer, from start: Int, to end: Int, _ context: ChannelHandlerContext) {
        guard let part = bytes.getSlice(at: start, length: end - start), part.readableBytes > 0 else { return }
        isParsing = true
        context.fireChannelRead(wrapInboundOut(part))
        isParsing = false
    }

    private func readPreface(_ bytes: inout ByteBuffer) {
        while let matched, matched < Self.preface.count, let byte = bytes.readInteger(as: UInt8.self) {
            self.matched = byte == Self.preface[matched] ? matched + 1 : nil
        }
    }

    private struct Frame {
        var length: Int
        var type: UInt8
        var flags: UInt8
        var stream: Int
    }

    /// The next frame header (RFC 9113, section 4.1); nil if it is incomplete.
    private func readHeader(_ bytes: inout ByteBuffer) -> Frame? {
        guard var part = bytes.readSlice(length: min(Self.headerBytes - header.readableBytes, bytes.readableBytes)) else { return nil }
        header.writeBuffer(&part)
        guard let (high, low, type, flags, stream) = header.readMultipleIntegers(as: (UInt8, UInt16, UInt8, UInt8, UInt32).self)
        else { return nil }
        header.clear()
        return Frame(length: Int(high) << 16 | Int(low), type: type, flags: flags, stream: Int(stream & 0x7FFF_FFFF))
    }

    private func begin(_ frame: Frame, _ context: ChannelHandlerContext) {
        (stream, rest) = (frame.type == Self.dataType ? frame.stream : nil, frame.length)
        switch frame.type {
        case Self.headersType: smallFrames.noteRequest()
        case Self.dataType:
            if frame.length == 0 { count(0) }
            guard frame.length < SmallFrameLimit.bytes, frame.flags & Self.endStream == 0 else { return }
            if !smallFrames.allows(at: NIODeadline.now()) { end(context) }
        default: break
        }
    }

    /// Counts a frame or a part of it. The frames of a closed stream are not stored.
    private func count(_ bytes: Int) {
        guard let stream, let before = waiting[stream] else { return }
        waiting[stream] = before + bytes + Self.frameBytes
        total += bytes + Self.frameBytes
    }

    /// Ends the connection with GOAWAY (RFC 9113, section 6.8).
    private func end(_ context: ChannelHandlerContext) {
        isOver = true
        connection.noteRefusal()
        var frame = context.channel.allocator.buffer(capacity: Self.headerBytes + 8)
        frame.writeMultipleIntegers(UInt8(0), UInt16(8), Self.goAwayType, UInt8(0), UInt32(0), UInt32(0), Self.enhanceYourCalm)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
        context.close(promise: nil)
    }
}
