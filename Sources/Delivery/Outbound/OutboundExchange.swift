import NIOCore
import NIOHTTP1
import NIOSSL
import PushCore

/// Sends one request over a connection and gathers the answer, on the connection's event loop. Closes it when it is done.
final class OutboundExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// Bytes of all names and values of an answer's headers and trailers.
    static let maximumHead = 65_536
    /// Of the headers and trailers.
    static let maximumFields = 256

    private let message: OutboundMessage
    private let maximumAnswer: Int
    private let followsRedirects: Bool
    private let promise: EventLoopPromise<OutboundAnswer>
    private var answer: OutboundAnswer
    private var isDone = false

    /// - Parameter followsRedirects: of an answer that leads elsewhere the body is not read.
    init(_ message: OutboundMessage, maximumAnswer: Int, followsRedirects: Bool, promise: EventLoopPromise<OutboundAnswer>) {
        self.message = message
        self.maximumAnswer = maximumAnswer
        self.followsRedirects = followsRedirects
        self.promise = promise
        answer = OutboundAnswer(status: 0, url: message.url)
    }

    /// The limits of what the answer's parser keeps.
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
            return abort(.outboundUnreachable(message.place, "it changes to another protocol, and nobody has asked it to"), context)
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
        abort(.outboundTooLarge(message.place, "the body of the answer", limit: maximumAnswer), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { abort(.outbound(error, message.place), context) }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(.outboundUnreachable(message.place, "the connection was closed before the answer was whole")))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.failure(.outboundUnreachable(message.place, "the connection was closed")))
    }

    private func abort(_ error: PushError, _ context: ChannelHandlerContext) {
        end(.failure(error))
        context.channel.cut()
    }

    private func end(_ result: Result<OutboundAnswer, PushError>) {
        if !isDone { promise.completeWith(result.mapError { $0 }) }
        isDone = true
    }
}

extension OutboundAnswer {
    /// Where it redirects to; nil where it does not. `Location` stands there once (RFC 9110, section 10.2.2): of several, none is to be
    /// trusted, and what they are together leads nowhere.
    var location: String? {
        let locations = headers.filter { $0.name.lowercased() == "location" }
        guard OutboundMessage.isRedirect(status), !locations.isEmpty else { return nil }
        return locations.map(\.value).joined(separator: ", ")
    }
}

extension Channel {
    /// Closes it now, from any thread. TLS would wait for the peer's farewell, which may never come.
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
