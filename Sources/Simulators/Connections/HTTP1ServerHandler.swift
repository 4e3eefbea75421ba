import HTTPTypes
import NIOCore
import NIOHTTP1

/// An HTTP/1.1 server connection above TLS (RFC 9112). Each request is answered before the next one is processed. Confined to the event
/// loop of its channel.
final class HTTP1ServerHandler: ChannelDuplexHandler, ServerConnection {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    /// A request in progress.
    private struct Exchange {
        var request: HTTPRequest
        /// Number of the request on this connection.
        var number: Int32
        /// Whether the connection stays open for another request.
        var isKeptAlive: Bool
        var body: [UInt8] = []
        /// Number of discarded body bytes.
        var discarded = 0
        var isHandedOver = false
        /// Whether the client has sent the whole request.
        var isComplete = false
        var isAnswered = false
    }

    private let responder: any ConnectionResponder
    private let wire: ConnectionResetHandler
    private let limits: HTTP2Limits
    private let activity: ConnectionActivity
    private var context: ChannelHandlerContext?
    private var exchange: Exchange?
    /// Received parts of later requests.
    private var waiting: CircularBuffer<HTTPServerRequestPart> = []
    private var count: Int32 = 0
    private var isReadPaused = false
    private var isEnding = false
    private var isClosing = false
    private var isTaking = false
    private var deadline: Scheduled<Void>?

    /// Timeout for a whole request, and for the start of the next one.
    private static let timeout = TimeAmount.seconds(75)

    /// - Parameter wire: The handler below TLS in the same pipeline.
    init(responder: any ConnectionResponder, wire: ConnectionResetHandler, limits: HTTP2Limits, activity: ConnectionActivity) {
        self.responder = responder
        self.wire = wire
        self.limits = limits
        self.activity = activity
    }

    /// - Parameter certificate: The client certificate, as DER.
    func begin(certificate: [UInt8]?) {
        _ = responder.open(self, certificate: certificate)
        awaitRequest()
    }

    // MARK: - For the responder

    var eventLoop: (any EventLoop)? { context?.eventLoop }
    var isMultiplexed: Bool { false }

    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8], goAwayData: [UInt8]?) {
        guard let context, let open = exchange, open.number == stream, !open.isAnswered, !isClosing else { return }
        exchange?.isAnswered = true
        activity.end()
        if goAwayData != nil || !open.isKeptAlive { isEnding = true }
        var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: response.status.code))
        for field in response.headerFields { head.headers.add(name: field.name.rawName, value: field.value) }
        // A 204 response has no content length (RFC 9110 section 8.6).
        if response.status != .noContent { head.headers.replaceOrAdd(name: "content-length", value: String(body.count)) }
        if isEnding { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        // A response to HEAD has no body (RFC 9110 section 9.3.2).
        if open.request.method != .head, !body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if open.isComplete { resume() } else { closeIfOversized() }
    }

    func setStreamLimit(_ limit: UInt32) {}

    func goAway(debugData: [UInt8]) {
        isEnding = true
        if exchange == nil || exchange?.isAnswered == true { close() }
    }

    func resetConnection() {
        isClosing = true
        wire.resetConnection()
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
        processParts()
    }

    /// Stops reading from a client that does not read its responses, or that has sent further requests already.
    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable, waiting.isEmpty else {
            isReadPaused = true
            return
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        resumeReading()
        context.fireChannelWritabilityChanged()
    }

    private func resumeReading() {
        guard let context, isReadPaused, context.channel.isWritable, waiting.isEmpty else { return }
        isReadPaused = false
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosing = true
        deadline?.cancel()
        responder.closed(self)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Invalid HTTP is answered once, if no request is in progress.
        if let error = error as? HTTPParserError, exchange == nil { refuse(error == .headerOverflow ? 431 : 400) }
        close()
    }

    // MARK: - Requests

    private func awaitRequest() {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: Self.timeout) { self.close() }
    }

    /// Processes parts until the current request is complete.
    private func processParts() {
        // A response given immediately re-enters this method.
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
        resumeReading()
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
            return closeIfOversized()
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
            resume()
        }
    }

    private func handOver() {
        guard let open = exchange else { return }
        exchange?.isHandedOver = true
        exchange?.body = []
        activity.begin()
        responder.handle(open.request, body: open.body, stream: open.number, on: self)
    }

    /// Continues after a complete request was answered.
    private func resume() {
        guard !isEnding else { return close() }
        exchange = nil
        awaitRequest()
        processParts()
    }

    /// Closes the connection if an answered request still sends too much.
    private func closeIfOversized() {
        guard let open = exchange, open.isAnswered, open.discarded > limits.maximumDiscardedBody else { return }
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
    /// Returns `nil` if `Host` is missing or repeated (RFC 9112 section 3.2), or the method is invalid.
    fileprivate init?(_ head: HTTPRequestHead) {
        let hosts = head.headers["host"]
        let isAddressed = hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0)
        guard let method = HTTPRequest.Method(rawValue: head.method.rawValue), isAddressed else { return nil }
        var (authority, path) = (hosts.first, head.uri)
        // A URL in absolute form replaces both (RFC 9112 section 3.2.2).
        if path.lowercased().hasPrefix("https://") {
            let rest = path.dropFirst("https://".count)
            authority = String(rest.prefix { $0 != "/" })
            path = String(rest.drop { $0 != "/" })
        }
        self.init(method: method, scheme: "https", authority: authority, path: path)
        for (name, value) in head.headers where name.lowercased() != "host" { headerFields.add(name, value) }
    }
}
