import HTTPTypes
import NIOCore
import NIOHTTP1

/// An HTTP/1.1 connection behind TLS (RFC 9112): one request after the other, each answered before the next is looked at. Belongs to
/// the event loop of its channel.
final class HTTP1ServerHandler: ChannelDuplexHandler, ServerConnection {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    /// A request that has begun.
    private struct Exchange {
        var request: HTTPRequest
        /// Counts the requests of the connection.
        var number: Int32
        /// Whether the client means to send another on this connection.
        var isKeptAlive: Bool
        var body: [UInt8] = []
        /// Bytes of the body that nobody wanted any more.
        var discarded = 0
        var isHandedOver = false
        /// The client has sent all of it.
        var isComplete = false
        var isAnswered = false
    }

    private let responder: any ConnectionResponder
    private let wire: WireEnd
    private let limits: HTTP2Limits
    private var context: ChannelHandlerContext?
    private var exchange: Exchange?
    /// What came of the requests after it.
    private var waiting: CircularBuffer<HTTPServerRequestPart> = []
    private var count: Int32 = 0
    private var isReadHeld = false
    private var isEnding = false
    private var isClosing = false
    private var isTaking = false
    private var deadline: Scheduled<Void>?

    /// How long a client may take for a whole request, and for the next one to begin.
    private static let patience = TimeAmount.seconds(75)

    /// - Parameter wire: Below TLS in the same pipeline.
    init(responder: any ConnectionResponder, wire: WireEnd, limits: HTTP2Limits) {
        self.responder = responder
        self.wire = wire
        self.limits = limits
    }

    /// - Parameter certificate: The client's, DER.
    func begin(certificate: [UInt8]?) {
        _ = responder.open(self, certificate: certificate)
        awaitRequest()
    }

    // MARK: - For the responder

    var eventLoop: (any EventLoop)? { context?.eventLoop }
    var isMultiplexed: Bool { false }

    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8], farewell: [UInt8]?) {
        guard let context, let open = exchange, open.number == stream, !open.isAnswered, !isClosing else { return }
        exchange?.isAnswered = true
        if farewell != nil || !open.isKeptAlive { isEnding = true }
        var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: response.status.code))
        for field in response.headerFields { head.headers.add(name: field.name.rawName, value: field.value) }
        // RFC 9110 section 8.6: none with 204.
        if response.status != .noContent { head.headers.replaceOrAdd(name: "content-length", value: String(body.count)) }
        if isEnding { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        // RFC 9110 section 9.3.2.
        if open.request.method != .head, !body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if open.isComplete { goOn() } else { cutOff() }
    }

    func setStreamLimit(_ limit: UInt32) {}

    func goAway(debugData: [UInt8]) {
        isEnding = true
        if exchange == nil || exchange?.isAnswered == true { close() }
    }

    func breakOff() {
        isClosing = true
        wire.breakOff()
    }

    func endSoon() { responder.end(self) }

    func close() {
        guard let context, !isClosing else { return }
        isClosing = true
        context.close(promise: nil)
    }

    // MARK: - For the channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        waiting.append(unwrapInboundIn(data))
        takeParts()
    }

    /// A client that does not read its answers, or sends more requests than it waits for, is not read either.
    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable, waiting.isEmpty else {
            isReadHeld = true
            return
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        readOn()
        context.fireChannelWritabilityChanged()
    }

    private func readOn() {
        guard let context, isReadHeld, context.channel.isWritable, waiting.isEmpty else { return }
        isReadHeld = false
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosing = true
        deadline?.cancel()
        responder.closed(self)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What cannot be read as HTTP is answered once, where nothing else is under way.
        if let error = error as? HTTPParserError, exchange == nil { refuse(error == .headerOverflow ? 431 : 400) }
        close()
    }

    // MARK: - Requests

    private func awaitRequest() {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { self.close() }
    }

    /// Until the request that is open has come in whole.
    private func takeParts() {
        // An answer that is given at once comes back here.
        guard !isTaking else { return }
        isTaking = true
        defer { isTaking = false }
        while !isClosing, exchange?.isComplete != true, let part = waiting.popFirst() {
            switch part {
            case .head(let head): begin(head)
            case .body(let bytes): append(bytes)
            case .end: complete()
            }
        }
        readOn()
    }

    private func begin(_ head: HTTPRequestHead) {
        count += 1
        guard let request = HTTPRequest(head) else {
            refuse(400)
            return close()
        }
        exchange = Exchange(request: request, number: count, isKeptAlive: head.isKeepAlive)
        if head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
            context?.writeAndFlush(wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: nil)
        }
    }

    private func append(_ bytes: ByteBuffer) {
        guard let open = exchange else { return }
        guard !open.isHandedOver else {
            exchange?.discarded += bytes.readableBytes
            return cutOff()
        }
        exchange?.body.append(contentsOf: bytes.readableBytesView)
        if open.body.count + bytes.readableBytes > limits.largestBody { handOver() }
    }

    private func complete() {
        guard let open = exchange else { return }
        deadline?.cancel()
        exchange?.isComplete = true
        if !open.isHandedOver {
            handOver()
        } else if open.isAnswered {
            goOn()
        }
    }

    private func handOver() {
        guard let open = exchange else { return }
        exchange?.isHandedOver = true
        exchange?.body = []
        responder.handle(open.request, body: open.body, stream: open.number, on: self)
    }

    /// After a request that came in whole and was answered.
    private func goOn() {
        guard !isEnding else { return close() }
        exchange = nil
        awaitRequest()
        takeParts()
    }

    /// Ends a request that is answered and goes on for too long.
    private func cutOff() {
        guard let open = exchange, open.isAnswered, open.discarded > limits.largestRemainder else { return }
        close()
    }

    private func refuse(_ status: Int) {
        let fields: HTTPHeaders = ["content-length": "0", "connection": "close"]
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
        context?.write(wrapOutboundOut(.head(head)), promise: nil)
        context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

extension HTTPRequest {
    /// Nil where `Host` is missing or repeated (RFC 9112 section 3.2), or the method is none.
    fileprivate init?(_ head: HTTPRequestHead) {
        let hosts = head.headers["host"]
        let isAddressed = hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0)
        guard let method = HTTPRequest.Method(rawValue: head.method.rawValue), isAddressed else { return nil }
        var (authority, path) = (hosts.first, head.uri)
        // The form that proxies are asked in stands for both (RFC 9112 section 3.2.2).
        if path.lowercased().hasPrefix("https://") {
            let rest = path.dropFirst("https://".count)
            authority = String(rest.prefix { $0 != "/" })
            path = String(rest.drop { $0 != "/" })
        }
        self.init(method: method, scheme: "https", authority: authority, path: path)
        for (name, value) in head.headers where name.lowercased() != "host" { headerFields.add(name, value) }
    }
}
