import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Follows the requests of a connection of HTTP/1.1, or of a stream of HTTP/2. A connection whose client has more to send than
/// was read ends with the answer: nothing is read only to be thrown away, but for a little. A body that takes too long ends with
/// an error for whoever reads it.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ConnectionLimits
    private var connection: ConnectionGuard?
    private var isStream = false
    /// Requests whose head, whose end and whose answer has come.
    private var (heads, ends, answers) = (0, 0, 0)
    /// The number of the request that is to be the last.
    private var last: Int?
    private var failure: HTTPParserError?
    private var isClosing = false
    private var unread = 0
    /// Rings when a body that has not come with its head has taken too long.
    private var alarm: Scheduled<Void>?

    /// A body did not arrive in time.
    struct BodyTooSlow: Error {}

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        if let codec = try? pipeline.handler(type: HTTP1ToHTTPServerCodec.self) {
            connection = try? pipeline.handler(type: ConnectionGuard.self)
            do {
                try pipeline.addHandler(HTTP1Guard(), position: .before(codec))
            } catch {
                context.close(promise: nil)
            }
        } else {
            isStream = true
            connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: ConnectionGuard.self)
            connection?.isMultiplexed = true
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        for _ in answers..<max(answers, heads) { connection?.end() }
        connection = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            if request.headerFields[.connection] == HTTP1Guard.close { last = heads }
            heads += 1
            connection?.begin()
        case .body(let part) where isStream && isClosing:
            unread += part.readableBytes
            if unread > limits.lingerBytes { return context.close(promise: nil) }
        case .body: break
        case .end:
            ends += 1
            alarm?.cancel()
            alarm = nil
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most bodies are there by now.
        if ends < heads, answers < heads, alarm == nil {
            alarm = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.body)) { [self] in
                alarm = nil
                if ends < heads, answers < heads { context.fireErrorCaught(BodyTooSlow()) }
            }
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var response):
            guard response.status.kind != .informational else { break }
            isClosing = ends <= answers || last == answers
            guard !isStream, isClosing else { break }
            response.headerFields[.connection] = HTTP1Guard.close
            if heads == answers, failure == .headerOverflow { response.status = .requestHeaderFieldsTooLarge }
            return context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .body: break
        case .end:
            if answers < heads { connection?.end() }
            answers += 1
            guard isClosing else { break }
            context.writeAndFlush(data, promise: promise)
            if isStream {
                context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.linger)) { context.close(promise: nil) }
            } else {
                context.close(mode: .output, promise: nil)
            }
            return
        }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What comes behind the first one says nothing new.
        guard failure == nil else { return }
        switch error {
        case let error as HTTPParserError: failure = error
        case is HTTP1TypeConversionError: failure = .unknown
        default: return context.fireErrorCaught(error)
        }
        context.fireErrorCaught(failure ?? .unknown)
    }
}
