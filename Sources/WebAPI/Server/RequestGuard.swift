import HTTPTypes
import HubWire
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Follows the requests of a connection of HTTP/1.1, or of a stream of HTTP/2. A connection whose client has more to send than
/// was read ends with the answer: nothing is read only to be thrown away, but for a little. A body that takes too long ends with
/// an error for whoever reads it. An answer is given when the client has taken it, for which it has time as long as it takes
/// any of it.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Bytes of an answer that show, when they are taken, that the client reads. As large as a frame of HTTP/2.
    private static let slice = 16 << 10

    private let limits: ConnectionLimits
    private var context: ChannelHandlerContext?
    private var connection: ConnectionGuard?
    private var isStream = false
    /// Requests whose head, whose end and whose answer has come, and whose answer the client has taken.
    private var (heads, ends, answers, given) = (0, 0, 0, 0)
    /// The number of the request that is to be the last.
    private var last: Int?
    private var failure: HTTPParserError?
    private var isClosing = false
    /// The last answer of a connection of HTTP/1.1 is written.
    private var isOver = false
    private var unread = 0
    /// What was written and not taken yet: writes that are followed, and their bytes.
    private var (writes, untaken) = (0, 0)
    /// Bytes of the answer that is written which are in no followed write.
    private var rest = 0
    /// Where the channel is to be closed when everything has been taken.
    private var closings: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    /// What has come of a request that is held, and whether more was asked for.
    private var held: [NIOAny]?
    private var isReleased = false
    private var wantsMore = false
    /// For a body that has not come with its head, and for an answer that the client does not take.
    private var (bodyAlarm, answerAlarm): (Alarm?, Alarm?)

    /// A body did not arrive in time.
    struct BodyTooSlow: Error {}

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
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
        bodyAlarm?.cancel()
        answerAlarm?.cancel()
        (bodyAlarm, answerAlarm) = (nil, nil)
        if held != nil || isReleased { connection?.leave(self, isReleased: isReleased) }
        held = nil
        connection?.settle(untaken)
        for _ in given..<max(given, heads) { connection?.end() }
        connection = nil
        self.context = nil
        for closing in closings { closing.promise?.succeed() }
        closings = []
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard held == nil else {
            held?.append(data)
            return
        }
        let part = unwrapInboundIn(data)
        guard !isOver else {
            // Nothing behind the last answer is for anybody, while it is on its way.
            if case .body(let part) = part { _ = take(part, context) }
            return
        }
        switch part {
        case .head(let request):
            if isStream, !isReleased, connection?.holds(self) == true {
                held = [data]
                return
            }
            if request.headerFields[.connection] == HTTP1Guard.close { last = heads }
            heads += 1
            connection?.begin()
        case .body(let part) where isStream && isClosing:
            guard take(part, context) else { return }
        case .body: break
        case .end:
            ends += 1
            bodyAlarm?.set(nil)
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard held == nil else { return }
        // Most bodies are there by now.
        if ends < heads, answers < heads, bodyAlarm?.isSet != true {
            let alarm = bodyAlarm ?? Alarm(context.eventLoop) { [unowned self] in bodyIsLate() }
            bodyAlarm = alarm
            alarm.set(limits.body)
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if held == nil { context.read() } else { wantsMore = true }
    }

    /// The client has taken enough of its other answers.
    func release() {
        guard let parts = held, let context else { return }
        held = nil
        isReleased = true
        for part in parts { channelRead(context: context, data: part) }
        channelReadComplete(context: context)
        if wantsMore { context.read() }
    }

    /// False where the client has sent too much that nobody reads.
    private func take(_ part: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        unread += part.readableBytes
        guard unread > limits.lingerBytes else { return true }
        context.close(promise: nil)
        return false
    }

    private func bodyIsLate() {
        if ends < heads, answers < heads { context?.fireErrorCaught(BodyTooSlow()) }
    }

    // MARK: - Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var response):
            guard response.status.kind != .informational else { break }
            isClosing = ends <= answers || last == answers
            guard !isStream, isClosing else { break }
            response.headerFields[.connection] = HTTP1Guard.close
            if heads == answers, failure == .headerOverflow { response.status = .requestHeaderFieldsTooLarge }
            return context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .body(var part):
            while part.readableBytes > Self.slice, let slice = part.readSlice(length: Self.slice) {
                context.write(wrapOutboundOut(.body(slice)), promise: follow(slice.readableBytes, context))
            }
            rest += part.readableBytes
            return context.write(wrapOutboundOut(.body(part)), promise: promise)
        case .end: return writeEnd(context: context, data: data, promise: promise)
        }
        context.write(data, promise: promise)
    }

    private func writeEnd(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let (isAnswer, isLast) = (answers < heads, isClosing)
        answers += 1
        let taken = follow(rest, context)
        rest = 0
        if let promise { taken.futureResult.cascade(to: promise) }
        taken.futureResult.assumeIsolated().whenSuccess { [self] in
            if isAnswer, connection != nil {
                given += 1
                connection?.end()
            }
            guard isStream, isLast else { return }
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.linger)) { context.close(promise: nil) }
        }
        if isReleased {
            isReleased = false
            connection?.leave(self, isReleased: true)
        }
        guard isLast else { return context.write(data, promise: taken) }
        isOver = !isStream
        context.writeAndFlush(data, promise: taken)
        if !isStream { close(context: context, mode: .output, promise: nil) }
    }

    /// A promise for a write, which is kept when the client has taken these bytes.
    private func follow(_ bytes: Int, _ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        writes += 1
        untaken += bytes
        connection?.owe(bytes)
        if writes == 1 {
            let alarm = answerAlarm ?? Alarm(context.eventLoop) { [unowned self] in self.context?.close(promise: nil) }
            answerAlarm = alarm
            alarm.set(limits.idle)
        }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in wasTaken(bytes) }
        return promise
    }

    private func wasTaken(_ bytes: Int) {
        writes -= 1
        untaken -= bytes
        connection?.settle(bytes)
        answerAlarm?.set(writes == 0 ? nil : limits.idle)
        guard writes == 0, !closings.isEmpty, let context else { return }
        let closings = self.closings
        self.closings = []
        // Not in the middle of a write.
        context.eventLoop.assumeIsolated().execute {
            for (mode, promise) in closings { context.close(mode: mode, promise: promise) }
        }
    }

    /// What was written goes out first.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input, writes > 0 else { return context.close(mode: mode, promise: promise) }
        closings.append((mode, promise))
    }

    // MARK: - Errors

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
