import HTTPTypes
import HubWire
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Follows the requests of an HTTP/1.1 connection or an HTTP/2 stream.
/// - If a client has more to send than was read, the connection ends with the response; only a little input is discarded.
/// - A body that takes too long ends with an error for its reader.
/// - A response is complete when the client has received it. There is no time limit while the client keeps reading.
/// - The parts of a body that arrive together are passed on as one, because each takes memory beside its bytes.
/// - Memory is reserved for a request before it begins, for its body as it arrives, and for its response before it is made.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Size of the writes whose progress shows that the client reads: as large as an HTTP/2 frame.
    private static let slice = 16 << 10

    private let limits: ConnectionLimits
    private let expectedAnswer: @Sendable (HTTPRequest) -> Int
    private var context: ChannelHandlerContext?
    private var connection: ConnectionGuard?
    private var isStream = false
    /// The number of an HTTP/2 stream, and where its unread frames are counted.
    private var stream: (frames: FrameGuard, number: Int)?
    /// Counts of request heads and ends received, and of responses written and delivered.
    private var (heads, ends, answers, delivered) = (0, 0, 0, 0)
    /// The number of the last request of the connection.
    private var last: Int?
    private var failure: HTTPParserError?
    private var isClosing = false
    /// Whether the last response of an HTTP/1.1 connection has been written.
    private var isOver = false
    private var unread = 0
    /// Number of writes not yet received by the client.
    private var writes = 0
    private let memory = RequestReservations()
    /// Whether the server has no memory left for the client's input. Further input is discarded.
    private var isRefused = false
    /// Whether the current response was replaced by an error.
    private var isReplaced = false
    /// Bytes of the current response that no tracked write contains.
    private var rest = 0
    /// How the channel is to be closed once everything has been received.
    private var closings: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    /// The received parts of a waiting request, except its body, and its reservation.
    private var held: (head: HTTPRequest, end: HTTPRequestPart?, claim: RequestReservations.Claim)?
    /// Whether more input was requested for the waiting request.
    private var wantsMore = false
    /// The part of a body that arrived since the last read, or while the request waits.
    private var body = ByteBuffer()
    /// Timers for a body that has not arrived with its head, and for a response that the client does not read.
    private var (bodyAlarm, answerAlarm): (ConnectionTimer?, ConnectionTimer?)

    /// A body did not arrive in time.
    struct BodyTimeout: Error {}
    /// The server has no memory left for a body.
    struct NoMemory: Error {}

    /// - Parameter expectedAnswer: Returns the expected size of a request's response in bytes.
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
            openStream(context)
        }
        memory.connection = connection
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        bodyAlarm?.cancel()
        answerAlarm?.cancel()
        (bodyAlarm, answerAlarm) = (nil, nil)
        if held != nil { connection?.leave(self) }
        held = nil
        if let stream { stream.frames.close(stream.number) }
        stream = nil
        memory.releaseAll()
        for _ in delivered..<max(delivered, heads) { connection?.end() }
        connection = nil
        self.context = nil
        for closing in closings { closing.promise?.succeed() }
        closings = []
    }

    private func openStream(_ context: ChannelHandlerContext) {
        guard let frames = try? context.channel.parent?.pipeline.syncOperations.handler(type: FrameGuard.self),
            let number = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
        else { return }
        stream = (frames, Int(number))
        frames.open(Int(number))
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        guard held == nil else { return hold(part, context) }
        guard !isOver, !isRefused else {
            // Input after the last response is discarded while the response is being sent.
            switch part {
            case .body(let part): _ = take(part, context)
            case .end: ends += 1
            case .head: break
            }
            return
        }
        switch part {
        case .head(let request):
            // Health checks are answered without a reservation, however much memory others use.
            let isProbe = request.path?.hasPrefix("/health/") == true
            let answer = isProbe ? 0 : expectedAnswer(request)
            guard let claim = isProbe ? RequestReservations.Claim() : memory.claim(for: request) else { return refuse(context) }
            if isStream, connection?.holds(self, answer: answer) == true {
                held = (request, nil, claim)
                return
            }
            guard begin(request, claim, answer: answer, context) else { return }
        case .body(let part):
            let isTaken = isStream && isClosing ? take(part, context) : reserveBody(part.readableBytes, context)
            if isTaken { gather(part) }
            return
        case .end:
            ends += 1
            bodyAlarm?.set(nil)
            if !isStream { connection?.inputEnded() }
            passBody(context)
        }
        context.fireChannelRead(data)
    }

    /// Copies a part, which would otherwise retain everything that was read with it.
    private func gather(_ part: ByteBuffer) { body.writeImmutableBuffer(part) }

    private func passBody(_ context: ChannelHandlerContext) {
        guard body.readableBytes > 0 else { return }
        let part = body
        body = ByteBuffer()
        context.fireChannelRead(wrapInboundOut(.body(part)))
    }

    /// Returns false if there is no memory left for the response.
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

    /// Stores a part of a waiting request.
    private func hold(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head: break
        case .body(let part):
            guard memory.reserve(part.readableBytes) else {
                connection?.leave(self)
                return refuse(context)
            }
            held?.claim.body += part.readableBytes
            gather(part)
        case .end: held?.end = part
        }
    }

    /// Returns false if there is no memory left for the body. The task that reads the body then receives an error.
    private func reserveBody(_ bytes: Int, _ context: ChannelHandlerContext) -> Bool {
        guard !memory.reserveBody(bytes) else { return true }
        isRefused = true
        body = ByteBuffer()
        if !isStream { connection?.ignoreInput() }
        connection?.noteRefusal()
        context.fireErrorCaught(NoMemory())
        return false
    }

    /// Rejects a request for which there is no memory, without handling it. Earlier HTTP/1.1 requests still get their responses; then the
    /// connection ends.
    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        connection?.noteRefusal()
        if let held {
            memory.release(held.claim)
            if held.end != nil { ends += 1 }
        }
        (held, body) = (nil, ByteBuffer())
        if !isStream { connection?.ignoreInput() }
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

    /// Has no body, because a client might not read it.
    private static let refusal = HTTPResponse(status: .serviceUnavailable, headerFields: [.contentLength: "0", .retryAfter: "1"])

    func channelReadComplete(context: ChannelHandlerContext) {
        if let stream { stream.frames.delivered(stream.number) }
        completeRead(context)
    }

    private func completeRead(_ context: ChannelHandlerContext) {
        guard held == nil else { return }
        passBody(context)
        // Most bodies have arrived by now.
        if ends < heads, answers < heads, bodyAlarm?.isSet != true {
            let alarm = bodyAlarm ?? ConnectionTimer(context.eventLoop) { [unowned self] in bodyIsLate() }
            bodyAlarm = alarm
            alarm.set(limits.body)
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if held == nil { context.read() } else { wantsMore = true }
    }

    /// Begins a waiting request, because the client has read enough of its other responses.
    func release() {
        guard let (head, end, claim) = held, let context else { return }
        held = nil
        if end != nil { ends += 1 }
        guard begin(head, claim, answer: expectedAnswer(head), context) else { return }
        context.fireChannelRead(wrapInboundOut(.head(head)))
        passBody(context)
        if let end { context.fireChannelRead(wrapInboundOut(end)) }
        completeRead(context)
        if wantsMore { context.read() }
    }

    /// Returns false, and closes the connection, if the client has sent too much input that is discarded.
    private func take(_ part: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        unread += part.readableBytes
        guard unread > limits.lingerBytes else { return true }
        context.close(promise: nil)
        return false
    }

    private func bodyIsLate() {
        if ends < heads, answers < heads { context?.fireErrorCaught(BodyTimeout()) }
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
            // A stream uses its memory until it is closed: the rest of its body may still arrive.
            if !isStream { memory.release(request) }
            if isAnswer, connection != nil {
                delivered += 1
                connection?.end()
            }
            guard isStream, isLast else { return }
            // The body of a rejected request that never began is not needed.
            let linger = isRefused && request == 0 ? TimeAmount.zero : TimeAmount(limits.linger)
            context.eventLoop.assumeIsolated().scheduleTask(in: linger) { context.close(promise: nil) }
        }
        guard isLast else { return context.write(data, promise: taken) }
        isOver = !isStream
        context.writeAndFlush(data, promise: taken)
        if !isStream { close(context: context, mode: .output, promise: nil) }
    }

    /// Makes a promise for a write that succeeds when the client has received these bytes.
    private func follow(_ bytes: Int, _ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        writes += 1
        if writes == 1 {
            let alarm = answerAlarm ?? ConnectionTimer(context.eventLoop) { [unowned self] in self.context?.close(promise: nil) }
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
        // Not within the current write.
        context.eventLoop.assumeIsolated().execute {
            for (mode, promise) in closings { context.close(mode: mode, promise: promise) }
        }
    }

    /// Delays the close until everything written has been received.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input, writes > 0 else { return context.close(mode: mode, promise: promise) }
        closings.append((mode, promise))
    }

    // MARK: - Errors

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Errors after the first one add nothing.
        guard failure == nil else { return }
        if held == nil { passBody(context) }
        switch error {
        case let error as HTTPParserError: failure = error
        case is HTTP1TypeConversionError: failure = .unknown
        default: return context.fireErrorCaught(error)
        }
        context.fireErrorCaught(failure ?? .unknown)
    }
}
