import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

@testable import Delivery

/// A request as a push service sees it.
struct ServiceRequest: Sendable {
    var method = ""
    var path = ""
    var authority = ""
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8] = []

    var text: String { String(decoding: body, as: UTF8.self) }
}

enum ServiceReply: Sendable {
    case answer(Int, [String: String] = [:], String = "")
    /// Not processed (RFC 9113, section 8.7).
    case refuse
    /// The connection ends.
    case cut
}

/// How a service behaves beside its answers.
struct ServiceManner: Sendable {
    /// At a time on a connection of HTTP/2, once it has answered; before that `firstStreams`.
    var streams: UInt32 = 100
    var firstStreams: UInt32?
    /// Says goodbye when so many requests of a connection were answered; 0 for never.
    var goodbye = 0
    /// Answers nobody before so many wait.
    var patience = 1
    /// Connections that it closes before anything was said over them.
    var closedFirst = 0
    /// What it offers with ALPN; nil without TLS.
    var protocols: [String]? = ["h2"]
}

/// A push service on a real socket, which a test tells what to answer: HTTP/2 on libnghttp2, or HTTP/1.1.
final class ServiceServer: Sendable {
    typealias Answering = @Sendable (_ request: ServiceRequest, _ number: Int) -> ServiceReply

    /// What its connections share.
    final class Record: Sendable {
        struct State {
            var requests: [ServiceRequest] = []
            var accepted = 0
            /// Connections that came as far as HTTP.
            var spoken = 0
            var waiting = 0
            var mostWaiting = 0
            var postponed: [@Sendable () -> Void] = []
        }

        let state = Mutex(State())
        let answering: Answering

        init(_ answering: @escaping Answering) {
            self.answering = answering
        }

        /// Calls `answer` with what the request gets, now or when enough of them wait.
        func take(_ request: ServiceRequest, patience: Int, answer: @escaping @Sendable (ServiceReply) -> Void) {
            let ready = state.withLock { state -> [@Sendable () -> Void] in
                state.requests.append(request)
                state.waiting += 1
                state.mostWaiting = max(state.mostWaiting, state.waiting)
                let number = state.requests.count
                state.postponed.append { [self] in answer(answering(request, number)) }
                guard state.postponed.count >= patience else { return [] }
                defer { state.postponed = [] }
                state.waiting -= state.postponed.count
                return state.postponed
            }
            for one in ready { one() }
        }
    }

    let port: Int
    private let record: Record
    private let listener: any Channel

    init(
        _ manner: ServiceManner = ServiceManner(), identity: TestIdentity, answering: @escaping Answering = { _, _ in .answer(200) }
    ) async throws {
        let record = Record(answering)
        self.record = record
        var tls: NIOSSLContext?
        if let protocols = manner.protocols {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.key))
            configuration.applicationProtocols = protocols
            tls = try NIOSSLContext(configuration: configuration)
        }
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = record.state.withLock { state -> Int in
                        state.accepted += 1
                        return state.accepted
                    }
                    if number <= manner.closedFirst { return channel.close(promise: nil) }
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    let isModern = manner.protocols?.contains("h2") == true
                    try isModern
                        ? pipeline.addHandler(ModernServiceHandler(manner, record))
                        : pipeline.addHandler(PlainServiceHandler(manner, record))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    var requests: [ServiceRequest] { record.state.withLock { $0.requests } }
    /// Connections of TCP.
    var accepted: Int { record.state.withLock { $0.accepted } }
    /// Connections that a request or a greeting of HTTP/2 came over.
    var spoken: Int { record.state.withLock { $0.spoken } }
    /// Requests that waited for their answers at a time.
    var mostWaiting: Int { record.state.withLock { $0.mostWaiting } }

    var route: PushRoute { PushRoute(host: "127.0.0.1", port: port, name: "localhost") }

    func stop() async throws { try await listener.close().get() }
}

/// One connection of HTTP/1.1: a request is answered before the next is read.
private final class PlainServiceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let manner: ServiceManner
    private let record: ServiceServer.Record
    private var bytes: [UInt8] = []
    private var hasSpoken = false

    init(_ manner: ServiceManner, _ record: ServiceServer.Record) {
        (self.manner, self.record) = (manner, record)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasSpoken { record.state.withLock { $0.spoken += 1 } }
        hasSpoken = true
        bytes += unwrapInboundIn(data).readableBytesView
        guard let request = next() else { return }
        // Whoever sends a second request before the first is answered breaks the rule that WNS has.
        precondition(bytes.isEmpty, "a client of WNS does not pipeline")
        let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
        record.take(request, patience: manner.patience) { reply in
            loop.execute { bound.value.0.answer(reply, bound.value.1) }
        }
    }

    private func next() -> ServiceRequest? {
        guard let end = bytes.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")[...]
        let words = (lines.popFirst() ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        var request = ServiceRequest(method: String(words[0]), path: String(words[1]))
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            request.headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        request.authority = request.headers["host"] ?? ""
        let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
        guard bytes.count - end.upperBound >= length else { return nil }
        request.body = Array(bytes[end.upperBound..<(end.upperBound + length)])
        bytes.removeFirst(end.upperBound + length)
        return request
    }

    private func answer(_ reply: ServiceReply, _ context: ChannelHandlerContext) {
        guard case .answer(let status, let headers, let text) = reply else { return context.close(promise: nil) }
        var head = "HTTP/1.1 \(status) Said\r\nContent-Length: \(text.utf8.count)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + "\r\n" + text)), promise: nil)
    }
}
