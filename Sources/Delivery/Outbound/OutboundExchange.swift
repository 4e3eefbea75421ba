import NIOCore
import NIOHTTP1
import NIOSSL
import PushModel

/// Sends one request over a connection and collects the response, on the connection's event loop. Then closes the connection.
final class OutboundExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// Maximum total size of the response's header and trailer names and values, in bytes.
    static let maximumHead = 65_536
    /// Maximum number of headers and trailers.
    static let maximumFields = 256

    private let message: OutboundMessage
    private let maximumAnswer: Int
    private let followsRedirects: Bool
    private let promise: EventLoopPromise<OutboundResponse>
    private var answer: OutboundResponse
    private var isDone = false

    /// - Parameter followsRedirects: If set, the body of a redirect is not read.
    init(_ message: OutboundMessage, maximumAnswer: Int, followsRedirects: Bool, promise: EventLoopPromise<OutboundResponse>) {
        self.message = message
        self.maximumAnswer = maximumAnswer
        self.followsRedirects = followsRedirects
        self.promise = promise
        answer = OutboundResponse(status: 0, url: message.url)
    }

    /// The limits of the response parser.
    static var decoderLimits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize, limits.maxHeaderFieldCount) = (maximumHead, maximumHead, maximumFields)
        return limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(message.head)), promise: nil)
        if !message.body.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: message.body)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let part):
            guard part.readableBytes <= maximumAnswer - answer.body.count else { return refuseBody(context) }
            answer.body += part.readableBytesView
        case .end:
            end(.success(answer))
            context.close(promise: nil)
        }
    }

    private func begin(_ head: HTTPResponseHead, _ context: ChannelHandlerContext) {
        guard head.status != .switchingProtocols else {
            return abort(.outboundUnreachable(message.endpoint, "it switched to another protocol without being asked"), context)
        }
        answer.status = Int(head.status.code)
        answer.headers = head.headers.map { PushHeader($0.name, $0.value) }
        if followsRedirects, answer.location != nil {
            end(.success(answer))
            context.channel.cut()
        } else if message.method != "HEAD", let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }),
            length > maximumAnswer
        {
            refuseBody(context)
        }
    }

    private func refuseBody(_ context: ChannelHandlerContext) {
        abort(.outboundTooLarge(message.endpoint, "the body of the response", limit: maximumAnswer), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { abort(.outbound(error, message.endpoint), context) }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(.outboundUnreachable(message.endpoint, "the connection was closed before the response was complete")))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.failure(.outboundUnreachable(message.endpoint, "the connection was closed")))
    }

    private func abort(_ error: PushError, _ context: ChannelHandlerContext) {
        end(.failure(error))
        context.channel.cut()
    }

    private func end(_ result: Result<OutboundResponse, PushError>) {
        if !isDone { promise.completeWith(result.mapError { $0 }) }
        isDone = true
    }
}

extension OutboundResponse {
    /// The target of a redirect; `nil` for other responses. `Location` is a single value (RFC 9110, section 10.2.2). Several are joined to
    /// an invalid one, because none of them can be trusted.
    var location: String? {
        let locations = headers.filter { $0.name.lowercased() == "location" }
        guard OutboundMessage.isRedirect(status), !locations.isEmpty else { return nil }
        return locations.map(\.value).joined(separator: ", ")
    }
}

extension Channel {
    /// Closes the channel now, from any thread, without waiting for the peer's TLS close_notify, which may never come.
    func cut() {
        eventLoop.execute { [self] in
            if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
                tls.close(promise: nil)
            } else {
                close(promise: nil)
            }
        }
    }
}
