import NIOCore
import NIOEmbedded
import PushModel
import Testing

@testable import WebAPI

@Suite struct FrameGuardTests {
    /// Collects what reaches the parser.
    private final class Parser: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private(set) var bytes: [UInt8] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { bytes += unwrapInboundIn(data).readableBytesView }
    }

    /// A connection whose memory is unlimited unless a test says otherwise.
    private struct Bench {
        let account: BufferAccount
        let frames: FrameGuard
        let parser = Parser()
        let channel = EmbeddedChannel()

        init(limit: Int? = nil) throws {
            let server = BufferAccount(limit: limit)
            account = BufferAccount(limit: nil, parent: server)
            frames = FrameGuard(
                connection: ConnectionGuard(limits: ConnectionLimits(), connections: Connections(limit: 1), account: account))
            try channel.pipeline.syncOperations.addHandlers(frames, parser)
        }

        func receive(_ bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Type 0 is DATA, type 1 HEADERS, type 8 WINDOW_UPDATE; flag 1 ends a stream.
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int, length: Int) -> [UInt8] {
        [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) } + [UInt8](repeating: 0x61, count: length)
    }

    /// A sent frame and its place in all bytes of the connection.
    private struct Sent {
        let stream: Int
        let isData: Bool
        /// The bytes after its header.
        let payload: Range<Int>

        /// What the frame adds to the account when these bytes arrive.
        func added(by read: Range<Int>) -> Int {
            guard isData else { return 0 }
            guard !payload.isEmpty else {
                // An empty frame is complete with the last byte of its header.
                return read.contains(payload.lowerBound - 1) ? FrameGuard.frameBytes : 0
            }
            let part = payload.clamped(to: read)
            return part.isEmpty ? 0 : part.count + FrameGuard.frameBytes
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `the account has what waits, however the frames are split, and nothing at the end`(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let bench = try Bench()
        let streams = [1, 3, 5, 7]
        var (bytes, sent): ([UInt8], [Sent]) = (Self.preface, [])
        for _ in 0..<600 {
            let (type, length) = ([0, 0, 0, 0, 1, 8][pick(6)] as UInt8, [0, 1, 2, 100, 5000][pick(5)])
            // Stream 9 is not open.
            let stream = (streams + [9])[pick(5)]
            bytes += Self.frame(type, flags: UInt8(pick(2)), stream: stream, length: length)
            sent.append(Sent(stream: stream, isData: type == 0, payload: (bytes.count - length)..<bytes.count))
        }
        var expected: [Int: Int] = [:]
        for stream in streams {
            bench.frames.open(stream)
            expected[stream] = 0
        }
        var start = 0
        while start < bytes.count {
            let read = start..<min(bytes.count, start + 1 + pick([1, 20, 3000][pick(3)]))
            try bench.receive(Array(bytes[read]))
            for frame in sent { expected[frame.stream]? += frame.added(by: read) }
            #expect(bench.account.bytes == expected.values.reduce(0, +))
            start = read.upperBound
            let stream = streams[pick(4)]
            switch pick(40) {
            case 0...9 where expected[stream] != nil:
                bench.frames.delivered(stream)
                expected[stream] = 0
            case 10:
                bench.frames.close(stream)
                expected[stream] = nil
            default: break
            }
        }
        #expect(bench.parser.bytes == bytes)
        for stream in streams { bench.frames.close(stream) }
        #expect(bench.account.bytes == 0)
        _ = try bench.channel.finish()
    }

    @Test func `bytes of another protocol are passed on unchanged`() throws {
        let bench = try Bench()
        let text = Array("PRI / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) + Self.frame(0, stream: 1, length: 9)
        for byte in text { try bench.receive([byte]) }
        #expect(bench.parser.bytes == text)
        #expect(bench.account.bytes == 0)
        _ = try bench.channel.finish()
    }

    @Test func `too many small frames end the connection, and nothing more reaches the parser`() throws {
        let bench = try Bench()
        let small = Self.frame(0, stream: 1, length: 1)
        try bench.receive(Self.preface + (0..<SmallFrameLimit.frames).flatMap { _ in small })
        #expect(try bench.channel.readOutbound(as: ByteBuffer.self) == nil)
        let seen = bench.parser.bytes.count
        try bench.receive(small)
        let last = try #require(try bench.channel.readOutbound(as: ByteBuffer.self))
        // GOAWAY with ENHANCE_YOUR_CALM.
        #expect(Array(last.readableBytesView) == [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11])
        #expect(bench.parser.bytes.count <= seen + small.count)
    }

    @Test func `a connection whose frames do not fit into memory ends, and everything is released`() throws {
        let bench = try Bench(limit: 10_000)
        bench.frames.open(1)
        try bench.receive(Self.preface + (0..<50).flatMap { _ in Self.frame(0, stream: 1, length: 1) })
        #expect(bench.account.bytes == 50 * (1 + FrameGuard.frameBytes))
        try bench.receive((0..<50).flatMap { _ in Self.frame(0, stream: 1, length: 1) })
        bench.channel.embeddedEventLoop.run()
        #expect(bench.account.bytes == 0)
    }
}
