import HTTPTypes
import NIOCore

/// An HTTP/2 server connection above TLS. Confined to the event loop of its channel.
final class HTTP2ServerHandler: ChannelDuplexHandler, ServerConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let responder: any ConnectionResponder
    private let wire: ConnectionResetHandler
    private let limits: HTTP2Limits
    private let activity: ConnectionActivity
    private var codec: HTTP2ServerCodec?
    private var context: ChannelHandlerContext?
    private var isReading = false
    private var isReadPaused = false
    private var isPumpScheduled = false
    private var isClosing = false

    /// Number of bytes per write.
    private static let portion = 65_536

    /// - Parameter wire: The handler below TLS in the same pipeline.
    init(responder: any ConnectionResponder, wire: ConnectionResetHandler, limits: HTTP2Limits, activity: ConnectionActivity) {
        self.responder = responder
        self.wire = wire
        self.limits = limits
        self.activity = activity
    }

    // MARK: - For the responder

    var eventLoop: (any EventLoop)? { context?.eventLoop }
    var isMultiplexed: Bool { true }

    func respond(to stream: Int32, _ response: HTTPResponse, body: [UInt8], goAwayData: [UInt8]?) {
        codec?.respond(to: stream, response, body: body)
        activity.end()
        if let goAwayData { codec?.goAway(after: stream, debugData: goAwayData) }
        schedulePump()
    }

    func setStreamLimit(_ limit: UInt32) {
        codec?.setStreamLimit(limit)
        schedulePump()
    }

    func goAway(debugData: [UInt8]) {
        codec?.goAway(debugData: debugData)
        schedulePump()
    }

    /// Resets the connection. Responses given before are sent first; the response to the current request, and anything the client sent
    /// after it, is lost.
    func resetConnection() {
        pump()
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

    /// Starts HTTP/2 after the TLS handshake.
    ///
    /// - Parameter certificate: The client certificate, as DER.
    func begin(certificate: [UInt8]?) throws(HTTP2Failure) {
        codec = try HTTP2ServerCodec(streamLimit: responder.open(self, certificate: certificate), limits: limits)
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
            // After a reset no more requests are passed on, even if they came in the same bytes.
            guard !isClosing else { return }
            if case .request(let stream, let request, let body) = event {
                activity.begin()
                responder.handle(request, body: body, stream: stream, on: self)
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        pump()
        context.fireChannelReadComplete()
    }

    /// Stops reading from a client that does not read its responses.
    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            isReadPaused = true
            return
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pump()
        if context.channel.isWritable, isReadPaused {
            isReadPaused = false
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

    /// Sends responses in one write if they follow each other closely.
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
