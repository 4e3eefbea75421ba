import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// A protocol over TLS; the raw value is its name in ALPN (RFC 7301 section 6).
enum WireProtocol: String {
    case http2 = "h2"
    case http1 = "http/1.1"

    /// The start of the HTTP/2 connection preface (RFC 9113 section 3.4), enough to recognise it.
    static let preface = Array("PRI ".utf8)
}

/// Adds the handler of the protocol above TLS, once the client has chosen one.
///
/// A client without ALPN gets the only protocol, or the one that its first bytes show: some clients speak HTTP/2 without ALPN, to the real
/// services too.
final class ProtocolNegotiator: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let protocols: [WireProtocol]
    private let wire: ConnectionResetHandler
    private let limits: HTTP2Limits
    private let activity: ConnectionActivity
    private let makeResponder: () -> any ConnectionResponder
    private var early = ByteBuffer()
    /// `nil` until the client has chosen.
    private(set) var connection: (any ServerConnection)?
    /// Closes a connection whose handshake or first HTTP/2 request is too slow.
    private var deadline: Scheduled<Void>?

    /// - Parameters:
    ///   - protocols: At least one.
    ///   - wire: The handler below TLS in the same pipeline.
    init(
        protocols: [WireProtocol], wire: ConnectionResetHandler, limits: HTTP2Limits, activity: ConnectionActivity,
        responder: @escaping () -> any ConnectionResponder
    ) {
        self.protocols = protocols
        self.wire = wire
        self.limits = limits
        self.activity = activity
        makeResponder = responder
    }

    func handlerAdded(context: ChannelHandlerContext) { expect({ $0.connection != nil }, in: limits.handshakeTimeout, context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    /// Closes the connection if a condition is not met in time.
    private func expect(_ isMet: @escaping (ProtocolNegotiator) -> Bool, in time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [unowned self] in
            if !isMet(self) { channel.close(promise: nil) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let name)? = event as? TLSUserEvent { choose(context, name: name) }
        context.fireUserInboundEventTriggered(event)
    }

    private func choose(_ context: ChannelHandlerContext, name: String?) {
        let known = name.flatMap { WireProtocol(rawValue: $0) }
        if name == nil, protocols.count == 1 {
            install(protocols[0], context)
        } else if let known, protocols.contains(known) {
            install(known, context)
        } else if name != nil {
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard connection == nil else { return context.fireChannelRead(data) }
        var part = unwrapInboundIn(data)
        early.writeBuffer(&part)
        let start = early.readableBytesView.prefix(WireProtocol.preface.count)
        let isPreface = WireProtocol.preface.starts(with: start)
        if isPreface, start.count < WireProtocol.preface.count { return }
        install(isPreface ? .http2 : .http1, context)
        context.fireChannelRead(wrapInboundOut(early))
        early.clear()
    }

    private func install(_ chosen: WireProtocol, _ context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        let certificate = ((try? pipeline.nioSSL_peerCertificate()) ?? nil).flatMap { try? $0.toDERBytes() }
        do {
            switch chosen {
            case .http2:
                let handler = HTTP2ServerHandler(responder: makeResponder(), wire: wire, limits: limits, activity: activity)
                try pipeline.addHandler(handler)
                connection = handler
                try handler.begin(certificate: certificate)
                // Later, an HTTP/2 connection may be idle as long as those of the real services.
                expect({ $0.activity.hadRequest }, in: limits.firstRequestTimeout, context)
            case .http1:
                let handler = HTTP1ServerHandler(responder: makeResponder(), wire: wire, limits: limits, activity: activity)
                try pipeline.addHandlers(
                    HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)), handler)
                connection = handler
                handler.begin(certificate: certificate)
            }
        } catch {
            context.close(promise: nil)
        }
    }

    /// Closes the connection when open requests are answered.
    func endSoon(_ channel: any Channel) {
        if let connection { connection.endSoon() } else { channel.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
