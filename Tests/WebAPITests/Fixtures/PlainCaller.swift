import NIOCore
import NIOPosix
import Testing

/// One HTTP/1.1 connection on which tests write raw text.
struct PlainCaller {
    private let channel: any Channel
    private let heard: EventLoopFuture<[UInt8]>

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var bytes: [UInt8] = []
        private let promise: EventLoopPromise<[UInt8]>

        init(_ promise: EventLoopPromise<[UInt8]>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { bytes += unwrapInboundIn(data).readableBytesView }
        func channelInactive(context: ChannelHandlerContext) { promise.succeed(bytes) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// - Parameters:
    ///   - source: the address of this client; nil for any.
    ///   - isReading: whether responses are read.
    init(port: Int, from source: String? = nil, isReading: Bool = true) async throws {
        let promise = NIOSingletons.posixEventLoopGroup.any().makePromise(of: [UInt8].self)
        heard = promise.futureResult
        var bootstrap = ClientBootstrap(group: NIOSingletons.posixEventLoopGroup).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Listener(promise)) }
        }
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        if !isReading {
            // The smallest receive buffer, so that the response stays with the server.
            bootstrap = bootstrap.channelOption(.autoRead, value: false).channelOption(.socketOption(.so_rcvbuf), value: 4096)
        }
        channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    }

    func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// Everything received until the server closes the connection.
    func all() async throws -> [UInt8] { try await heard.get() }

    func close() async throws { try await channel.close() }
}

/// A received answer.
struct PlainAnswer {
    let status: Int
    /// The header fields, with names in lower case.
    let headers: [String: String]
    /// Everything after the head.
    let body: [UInt8]

    init(_ bytes: [UInt8]) throws {
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).replacing("\r\n", with: "\n").split(separator: "\n")
        status = try #require(Int(lines[0].split(separator: " ")[1]))
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            let name = parts[0].lowercased()
            let value = String(parts[1].drop { $0 == " " })
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        self.headers = headers
        body = Array(bytes[end.upperBound...])
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}
