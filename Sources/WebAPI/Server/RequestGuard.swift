import HTTPTypes
import HubWire
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Follows the requests of a connection of HTTP/1.1, or of a stream of HTTP/2. A connection whose client has more to send than
/// was read ends with the answer: nothing is read only to be thrown away, but for a little. A body that takes too long ends with
/// an error for whoever reads it. An answer is given when the client has taken it, for which it has time as long as it takes
/// any of it. Memory for a request is reserved before it begins, for its body as it arrives, and for its answer before that is made.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Bytes of an answer that show, when they are taken, that the client reads. As large as a frame of HTTP/2.
    private static let slice = 16 << 10

    private let limits: ConnectionLimits
    private let expectedAnswer: @Sendable (HTTPRequest) -> Int
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
    /// Writes that were not taken yet.
    private var writes = 0
    private let memory = RequestReservations()
    /// The server has no memory left for what the client sends: nothing is read any more but to be thrown away.
    private var isRefused = false
    /// The answer that is written was replaced by a refusal.
    private var isReplaced = false
    /// Bytes of the answer that is written which are in no followed write.
    private var rest = 0
    /// Where the channel is to be closed when everything has been taken.
    private var closings: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    /// What has come of a request that is held, what is reserved for it, and whether more was asked for.
    private var held: (parts: [HTTPRequestPart], claim: RequestReservations.Claim)?
    private var wantsMore = false
    /// For a body that has not come with its head, and for an answer that the client does not take.
    private var (bodyAlarm, answerAlarm): (Alarm?, Alarm?)

    /// A body did not arrive in time.
    struct BodyTooSlow: Error {}
    /// The server has no memory left for a body.
    struct NoMemory: Error {}

    /// - Parameter expectedAnswer: bytes that the answer to a request is expected to have.
    init(limits: ConnectionLimits, expectedAnswer: @escaping @Sendable (HTTPRequest) -> Int) {
        self.limits = limits
        self.expectedAnswer = expectedAnswer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let pipeline = context.pipeline.syncOperations
        if let codec = try? pipeline.handler(type: HTTP1ToHTTPServerCodec.self) {
            connection = try? pipeline.handler(type: ConnectionGuard.self)
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let chunks = ChunkGuard()
                try pipeline.addHandler(chunks, position: .before(decoder))
                try pipeline.addHandler(HTTP1Guard(chunks: chunks), position: .before(codec))
            } catch {
                context.close(promise: nil)
            }
        } else {
            isStream = true
            connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: ConnectionGuard.self)
            connection?.isMultiplexed = true
        }
        memory.connection = connection
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        bodyAlarm?.cancel()
        answerAlarm?.cancel()
        (bodyAlarm, answerAlarm) = (nil, nil)
        if held != nil { connection?.leave(self) }
        held = nil
        memory.releaseAll()
        for _ in given..<max(given, heads) { connection?.end() }
        connection = nil
        self.context = nil
        for closing in closings { closing.promise?.succeed() }
        closings = []
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        guard held == nil else { return hold(part, context) }
        guard !isOver, !isRefused else {
            // Nothing behind the last answer is for anybody, while it is on its way.
            switch part {
            case .body(let part): _ = take(part, context)
            case .end: ends += 1
            case .head: break
            }
            return
        }
        switch part {
        case .head(let request):
            // Whether the server lives is answered without an account, however much waits for others.
            let isProbe = request.path?.hasPrefix("/health/") == true
            let answer = isProbe ? 0 : expectedAnswer(request)
            guard let claim = isProbe ? RequestReservations.Claim() : memory.claim() else { return refuse(context) }
            if isStream, connection?.holds(self, answer: answer) == true {
                held = ([part], claim)
                return
            }
            guard begin(request, claim, answer: answer, context) else { return }
        case .body(let part) where isStream && isClosing:
            guard take(part, context) else { return }
        case .body(let part):
            guard reserveBody(part.readableBytes, context) else { return }
        case .end:
            ends += 1
            bodyAlarm?.set(nil)
        }
        context.fireChannelRead(data)
    }

    /// False where there is no memory left for its answer.
    private func begin(
        _ request: HTTPRequest, _ claim: RequestReservations.Claim, answer: Int, _ context: ChannelHandlerContext
    ) -> Bool {
        guard memory.begin(claim, answer: answer) else {
            refuse(context)
            return false
        }
        if request.headerFields[.connection] == HTTP1Guard.close { last = heads }
        heads += 1
        connection?.begin()
        return true
    }

    /// Stores a part of a request that has to wait.
    private func hold(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if case .body(let body) = part {
            guard memory.reserve(body.readableBytes) else {
                connection?.leave(self)
                return refuse(context)
            }
            held?.claim.body += body.readableBytes
        }
        held?.parts.append(part)
    }

    /// False where the server has no memory left for it, which is an error for the task that reads the body.
    private func reserveBody(_ bytes: Int, _ context: ChannelHandlerContext) -> Bool {
        guard !memory.reserveBody(bytes) else { return true }
        isRefused = true
        connection?.noteRefusal()
        context.fireErrorCaught(NoMemory())
        return false
    }

    /// Answers a request for which the server has no memory, without asking what it wants. Requests of HTTP/1.1 that came before it get
    /// their answers, then the connection ends.
    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        connection?.noteRefusal()
        if let held {
            memory.release(held.claim)
            for case .end in held.parts { ends += 1 }
        }
        held = nil
        guard answers == heads else {
            last = heads - 1
            return
        }
        heads += 1
        memory.beginRefused()
        last = heads - 1
        connection?.begin()
        write(context: context, data: wrapOutboundOut(.head(Self.refusal)), promise: nil)
        write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// Without a body, which a client could leave lying as well.
    private static let refusal = HTTPResponse(status: .serviceUnavailable, headerFields: [.contentLength: "0", .retryAfter: "1"])

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

    /// Begins a request that was held: the client has taken enough of its other answers.
    func release() {
        guard let (parts, claim) = held, let context else { return }
        held = nil
        for part in parts {
            switch part {
            case .head(let request):
                if parts.count > 1, case .end = parts[parts.count - 1] { ends += 1 }
                guard begin(request, claim, answer: expectedAnswer(request), context) else { return }
            case .body, .end: break
            }
            context.fireChannelRead(wrapInboundOut(part))
        }
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
        case .head(let response):
            guard response.status.kind != .informational else { break }
            return writeHead(response, context, promise)
        case .body(var part):
            guard !isReplaced else {
                promise?.succeed()
                return
            }
            guard memory.countWritten(part.readableBytes) else {
                promise?.fail(NoMemory())
                return context.close(promise: nil)
            }
            while part.readableBytes > Self.slice, let slice = part.readSlice(length: Self.slice) {
                context.write(wrapOutboundOut(.body(slice)), promise: follow(slice.readableBytes, context))
            }
            rest += part.readableBytes
            return context.write(wrapOutboundOut(.body(part)), promise: promise)
        case .end: return writeEnd(context: context, data: data, promise: promise)
        }
        context.write(data, promise: promise)
    }

    private func writeHead(_ response: HTTPResponse, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        var response = response
        isReplaced = !memory.reserveAnswer(response.headerFields[.contentLength].flatMap { Int($0) } ?? 0)
        if isReplaced {
            connection?.noteRefusal()
            response = Self.refusal
        }
        isClosing = ends <= answers || last == answers || isRefused && answers + 1 >= heads
        if !isStream, isClosing {
            response.headerFields[.connection] = HTTP1Guard.close
            if heads == answers, failure == .headerOverflow { response.status = .requestHeaderFieldsTooLarge }
        }
        context.write(wrapOutboundOut(.head(response)), promise: promise)
    }

    private func writeEnd(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let (isAnswer, isLast) = (answers < heads, isClosing || isRefused && answers + 1 == heads)
        isReplaced = false
        answers += 1
        let taken = follow(rest, context)
        rest = 0
        if let promise { taken.futureResult.cascade(to: promise) }
        let request = isAnswer ? memory.endFirst() : 0
        taken.futureResult.assumeIsolated().whenSuccess { [self] in
            memory.release(request)
            if isAnswer, connection != nil {
                given += 1
                connection?.end()
            }
            guard isStream, isLast else { return }
            // The body of one that has not begun is of no use.
            let linger = isRefused && request == 0 ? TimeAmount.zero : TimeAmount(limits.linger)
            context.eventLoop.assumeIsolated().scheduleTask(in: linger) { context.close(promise: nil) }
        }
        guard isLast else { return context.write(data, promise: taken) }
        isOver = !isStream
        context.writeAndFlush(data, promise: taken)
        if !isStream { close(context: context, mode: .output, promise: nil) }
    }

    /// A promise for a write, which is kept when the client has taken these bytes.
    private func follow(_ bytes: Int, _ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        writes += 1
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
        memory.release(bytes)
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
