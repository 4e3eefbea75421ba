import CNGHTTP2
import HTTPTypes
import NIOCore
import NIOSSL
import NIOTLS

/// Answers the requests of one connection; called on its event loop.
protocol HTTP2Responder: AnyObject {
    /// The client has finished the TLS handshake; how many requests it may have open.
    ///
    /// - Parameter certificate: The client's, DER; nil without one.
    func open(_ connection: HTTP2ServerHandler, certificate: [UInt8]?) -> UInt32

    /// A request, which is answered now or later with `respond`, or never.
    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: HTTP2ServerHandler)

    /// The server ends: what the connection does about it, such as GOAWAY.
    func end(_ connection: HTTP2ServerHandler)

    func closed(_ connection: HTTP2ServerHandler)
}

/// An HTTP/2 connection behind TLS: bytes to requests, answers to bytes. Belongs to the event loop of its channel.
final class HTTP2ServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let responder: any HTTP2Responder
    private let wire: WireEnd
    private let limits: HTTP2Limits
    private var codec: HTTP2ServerCodec?
    private var context: ChannelHandlerContext?
    private var isReading = false
    private var isReadHeld = false
    private var isPumpScheduled = false
    private var isClosing = false

    /// Bytes of one write.
    private static let portion = 65_536

    /// - Parameter wire: Below TLS in the same pipeline.
    init(responder: any HTTP2Responder, wire: WireEnd, limits: HTTP2Limits = HTTP2Limits()) {
        self.responder = responder
        self.wire = wire
        self.limits = limits
    }

    // MARK: - For the responder

    var eventLoop: (any EventLoop)? { context?.eventLoop }
    var openCount: Int { codec?.openCount ?? 0 }

    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8]) {
        codec?.respond(to: stream, response, body: body)
        schedulePump()
    }

    /// See `HTTP2ServerCodec`, as of the next.
    func setStreamLimit(_ limit: UInt32) {
        codec?.setStreamLimit(limit)
        schedulePump()
    }

    func goAway(_ code: nghttp2_error_code = NGHTTP2_NO_ERROR, debugData: [UInt8]) {
        codec?.goAway(code, debugData: debugData)
        schedulePump()
    }

    func goAway(after stream: Int32, debugData: [UInt8]) {
        codec?.goAway(after: stream, debugData: debugData)
        schedulePump()
    }

    /// Breaks the connection off without another word: the client gets a TCP reset, and never learns what became of its requests.
    func breakOff() {
        isClosing = true
        wire.breakOff()
    }

    /// Ends the connection when what is open is answered.
    func endSoon() { responder.end(self) }

    func close() {
        guard let context, !isClosing else { return }
        isClosing = true
        context.close(promise: nil)
    }

    // MARK: - For the channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let name)? = event as? TLSUserEvent { begin(context, protocol: name) }
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ context: ChannelHandlerContext, protocol name: String?) {
        // Some clients name no protocol and speak HTTP/2 all the same, to Apple's servers too.
        guard name ?? "h2" == "h2", codec == nil else { return close() }
        let certificate = (try? context.pipeline.syncOperations.nioSSL_peerCertificate()) ?? nil
        let limit = responder.open(self, certificate: certificate.flatMap { try? $0.toDERBytes() })
        codec = try? HTTP2ServerCodec(streamLimit: limit, limits: limits)
        pump()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let codec, !isClosing else { return }
        isReading = true
        do {
            try unwrapInboundIn(data).withUnsafeReadableBytes { bytes throws(HTTP2Failure) in try codec.receive(bytes) }
        } catch {
            return close()
        }
        for event in codec.takeEvents() {
            if case .request(let stream, let request, let body) = event {
                responder.handle(request, body: body, stream: stream, on: self)
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        pump()
        context.fireChannelReadComplete()
    }

    /// A client that does not read its answers is not read either.
    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            isReadHeld = true
            return
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pump()
        if context.channel.isWritable, isReadHeld {
            isReadHeld = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosing = true
        responder.closed(self)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    /// Answers that come one after the other go out together.
    private func schedulePump() {
        guard !isReading, !isPumpScheduled, let loop = context?.eventLoop else { return }
        isPumpScheduled = true
        loop.assumeIsolated().execute {
            self.isPumpScheduled = false
            self.pump()
        }
    }

    private func pump() {
        guard let codec, let context, !isClosing else { return }
        do {
            var hasWritten = false
            while context.channel.isWritable {
                var buffer = context.channel.allocator.buffer(capacity: 4096)
                guard try codec.drain(into: &buffer, limit: Self.portion) else { break }
                context.write(wrapOutboundOut(buffer), promise: nil)
                hasWritten = true
            }
            if hasWritten { context.flush() }
        } catch {
            return close()
        }
        if codec.isFinished { close() }
    }
}
