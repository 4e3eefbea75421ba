import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

@testable import Delivery

/// A request as a push service receives it.
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
    /// Closes the connection.
    case cut
}

/// The behaviour of a service besides its answers.
struct ServiceBehaviour: Sendable {
    /// Concurrent streams per HTTP/2 connection after the first answer; before it `firstStreams` applies.
    var streams: UInt32 = 100
    var firstStreams: UInt32?
    /// The number of answered requests of a connection after which it sends GOAWAY; 0 for never.
    var goodbye = 0
    /// The number of requests that must wait before any is answered.
    var timeout = 1
    /// The number of connections that are closed before any data is exchanged.
    var closedFirst = 0
    /// The protocols offered with ALPN; nil without TLS.
    var protocols: [String]? = ["h2"]
}

/// A push service on a real socket with answers from the test: HTTP/2 on libnghttp2, or HTTP/1.1.
final class ServiceServer: Sendable {
    typealias Answering = @Sendable (_ request: ServiceRequest, _ number: Int) -> ServiceReply

    /// State that the connections share.
    final class Record: Sendable {
        struct State {
            var requests: [ServiceRequest] = []
            var accepted = 0
            /// Connections that reached HTTP.
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

        /// Calls `answer` with the reply, immediately or once enough requests wait.
        func take(_ request: ServiceRequest, timeout: Int, answer: @escaping @Sendable (ServiceReply) -> Void) {
            let ready = state.withLock { state -> [@Sendable () -> Void] in
                state.requests.append(request)
                state.waiting += 1
                state.mostWaiting = max(state.mostWaiting, state.waiting)
                let number = state.requests.count
                state.postponed.append { [self] in answer(answering(request, number)) }
                guard state.postponed.count >= timeout else { return [] }
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
        _ behaviour: ServiceBehaviour = ServiceBehaviour(), identity: TestIdentity,
        answering: @escaping Answering = { _, _ in .answer(200) }
    ) async throws {
        let record = Record(answering)
        self.record = record
        var tls: NIOSSLContext?
        if let protocols = behaviour.protocols {
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
                    if number <= behaviour.closedFirst { return channel.close(promise: nil) }
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    let isModern = behaviour.protocols?.contains("h2") == true
                    try isModern
                        ? pipeline.addHandler(HTTP2ServiceHandler(behaviour, record))
                        : pipeline.addHandler(PlainServiceHandler(behaviour, record))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    var requests: [ServiceRequest] { record.state.withLock { $0.requests } }
    /// TCP connections.
    var accepted: Int { record.state.withLock { $0.accepted } }
    /// Connections with a request or an HTTP/2 preface.
    var spoken: Int { record.state.withLock { $0.spoken } }
    /// The largest number of requests that waited for answers at the same time.
    var mostWaiting: Int { record.state.withLock { $0.mostWaiting } }

    var route: PushRoute { PushRoute(host: "127.0.0.1", port: port, name: "localhost") }

    func stop() async throws { try await listener.close().get() }
}

/// One HTTP/1.1 connection: each request is answered before the next is read.
private final class PlainServiceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behaviour: ServiceBehaviour
    private let record: ServiceServer.Record
    private var bytes: [UInt8] = []
    private var hasSpoken = false

    init(_ behaviour: ServiceBehaviour, _ record: ServiceServer.Record) {
        (self.behaviour, self.record) = (behaviour, record)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasSpoken { record.state.withLock { $0.spoken += 1 } }
        hasSpoken = true
        bytes += unwrapInboundIn(data).readableBytesView
        guard let request = next() else { return }
        // A second request before the first answer breaks a rule of WNS.
        precondition(bytes.isEmpty, "a client of WNS does not pipeline")
        let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
        record.take(request, timeout: behaviour.timeout) { reply in
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
