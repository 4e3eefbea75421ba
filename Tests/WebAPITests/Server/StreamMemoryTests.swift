import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import Testing

@testable import WebAPI

/// The memory of HTTP/2 streams and of connections, until they are closed.
@Suite struct StreamMemoryTests {
    /// Answers each request at its head, without waiting for its body.
    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundOut = HTTPResponsePart

        private let heads: Happenings
        private let bytes: Int

        init(_ heads: Happenings, bytes: Int) { (self.heads, self.bytes) = (heads, bytes) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head = unwrapInboundIn(data) else { return }
            heads.note("head")
            let response = HTTPResponse(status: .unauthorized, headerFields: [.contentLength: "\(bytes)"])
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            if bytes > 0 { context.write(wrapOutboundOut(.body(ByteBuffer(repeating: 0x61, count: bytes))), promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// An HTTP/2 connection with the handlers that reserve memory.
    private struct Bench {
        /// What the head of ``post(_:ends:)`` reserves.
        static let claim = ConnectionLimits.requestBytes + "/".utf8.count + "localhost".utf8.count

        /// Bytes that count as a head until the first stream.
        static let preface = 100

        let buffers: ClientBuffers
        let channel = EmbeddedChannel()
        let heads = Happenings()

        init(_ limits: ClientBuffers.Limits) throws { try self.init(ClientBuffers(limits: limits)) }

        /// - Parameter answer: The size of the responses. A client with responses of more than 0 bytes does not read them.
        init(_ buffers: ClientBuffers, from address: String = "a", answer: Int = 0) throws {
            self.buffers = buffers
            let guardian = ConnectionGuard(
                limits: ConnectionLimits(), connections: Connections(limit: 1, buffers: buffers), account: buffers.account(for: address))
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(guardian)
            try pipeline.addHandler(
                NIOHTTP2Handler(
                    mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: .init(), streamConfiguration: .init()
                ) { [heads] stream in
                    stream.eventLoop.makeCompletedFuture {
                        try stream.pipeline.syncOperations.addHandlers(
                            HTTP2FramePayloadToHTTPServerCodec(), RequestGuard(limits: ConnectionLimits()) { _ in answer },
                            Answering(heads, bytes: answer))
                    }
                })
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
            // SETTINGS, with an initial window of 0 bytes.
            let settings = answer > 0 ? Self.frame(4, [0, 4, 0, 0, 0, 0]) : Self.frame(4)
            try receive(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings)
        }

        private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
            [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
        }

        private func receive(_ bytes: [UInt8]) throws {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
            channel.embeddedEventLoop.run()
        }

        /// Sends the head of a request to `/` on `localhost`.
        func post(_ stream: UInt8, ends: Bool = false) throws {
            // The first three bytes are entries of the static table: POST, https and the path /.
            let fields = [0x83, 0x87, 0x84, 0x01, UInt8("localhost".utf8.count)] + Array("localhost".utf8)
            try receive(Self.frame(1, flags: ends ? 5 : 4, stream: stream, fields))
        }
    }

    @Test func `a stream that was answered before its body has arrived counts until it is closed`() throws {
        let bench = try Bench(ClientBuffers.Limits(connection: .max, address: 3 * Bench.claim + Bench.preface, server: nil))
        for (count, stream) in [1, 3, 5].enumerated() {
            try bench.post(UInt8(stream))
            #expect(bench.heads.count == count + 1 && bench.buffers.bytes == (count + 1) * Bench.claim)
        }
        // The fourth one gets 503 without being handled.
        try bench.post(7)
        #expect(bench.heads.count == 3 && bench.buffers.refusals == 1)
        #expect(bench.buffers.bytes == 3 * Bench.claim)
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(3))
        bench.channel.embeddedEventLoop.run()
        #expect(bench.buffers.bytes == 0)
        try bench.post(9)
        #expect(bench.heads.count == 4 && bench.buffers.refusals == 1)
        _ = try? bench.channel.finish()
        #expect(bench.buffers.bytes == 0)
    }

    @Test func `a stream whose request has arrived completely is released with its answer`() throws {
        let bench = try Bench(ClientBuffers.Limits(connection: .max, address: Bench.claim + Bench.preface, server: nil))
        for stream in [1, 3, 5] as [UInt8] {
            try bench.post(stream, ends: true)
            #expect(bench.buffers.bytes == 0)
        }
        #expect(bench.heads.count == 3 && bench.buffers.refusals == 0)
        _ = try? bench.channel.finish()
    }

    @Test func `a connection closed for a request of another address releases all its streams, and begins no waiting request`() throws {
        let (claim, answer) = (Bench.claim, 10_000)
        // Enough for the first request of a connection; the next ones wait.
        let limits = ClientBuffers.Limits(
            connection: claim + answer, address: nil, server: (5 * claim + claim / 2 + 2 * answer) / 7 * 8)
        let buffers = ClientBuffers(limits: limits)
        let largest = try Bench(buffers, from: "a", answer: answer)
        for stream in [1, 3, 5] as [UInt8] { try largest.post(stream, ends: true) }
        let other = try Bench(buffers, from: "b", answer: answer)
        try other.post(1, ends: true)
        #expect(buffers.bytes == 4 * claim + 2 * answer && largest.heads.count == 1)
        let requester = try Bench(buffers, from: "c")
        try requester.post(1)
        #expect(buffers.evictions == 0)
        try requester.post(3)
        #expect(requester.heads.count == 2 && buffers.evictions == 1 && buffers.refusals == 0)
        #expect(largest.channel.isActive)
        largest.channel.embeddedEventLoop.run()
        #expect(!largest.channel.isActive && largest.heads.count == 1)
        // If it had closed before its streams were released, another connection would have been closed too.
        #expect(buffers.bytes == 3 * claim + answer && buffers.evictions == 1)
        other.channel.embeddedEventLoop.run()
        requester.channel.embeddedEventLoop.run()
        #expect(other.channel.isActive && requester.channel.isActive)
        for bench in [largest, other, requester] { _ = try? bench.channel.finish() }
        #expect(buffers.bytes == 0)
    }

    @Test func `memory is returned to the system when most of many connections have closed`() throws {
        let happenings = Happenings()
        let connections = Connections(limit: 1000, buffers: ClientBuffers { happenings.note("relief") })
        func open(_ count: Int) -> [EmbeddedChannel] {
            let channels = (0..<count).map { _ in EmbeddedChannel() }
            for channel in channels { #expect(connections.open(channel)) }
            return channels
        }
        // Too few to matter.
        for channel in open(100) { _ = try channel.finish() }
        #expect(happenings.count == 0)
        let channels = open(400)
        for channel in channels[..<299] { _ = try channel.finish() }
        #expect(happenings.count == 0 && connections.count == 101)
        _ = try channels[299].finish()
        #expect(happenings.count == 1)
        for channel in channels[300...] { _ = try channel.finish() }
        #expect(happenings.count == 1 && connections.count == 0)
        #expect(connections.buffers.bytes == 0)
    }
}
