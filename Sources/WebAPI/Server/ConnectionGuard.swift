import NIOCore

/// Stands between a socket and everything else, TLS included. Closes a connection that takes too long for its handshake or a
/// head, or is idle for too long, and swallows for a while what a client goes on to send after its last answer.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum Phase {
        /// Nothing has been asked yet.
        case opening
        case idle
        /// A head has begun to arrive.
        case head
        case busy
        /// Everything was answered; what comes is not read any more.
        case lingering
    }

    /// Whether requests are streams of HTTP/2; then single bytes tell nothing about heads.
    var isMultiplexed = false

    private let limits: ConnectionLimits
    private let connections: Connections
    private var phase = Phase.opening
    private var requests = 0
    private var lingered = 0
    private var isInputClosed = false
    private var context: ChannelHandlerContext?
    private var alarm: Alarm?
    /// Bytes that wait for this connection.
    private let account: BufferAccount
    /// Requests that do not begin before the client has taken more of its answers, in the order in which they came, each with the
    /// expected size of its answer.
    private var held: [(request: RequestGuard, answer: Int)] = []
    private var isAdmitting = false
    /// Bytes of a handshake or a head that is not complete: those that came, and those that are reserved.
    private var (opening, reservedOpening) = (0, 0)

    init(limits: ConnectionLimits, connections: Connections, account: BufferAccount) {
        self.limits = limits
        self.connections = connections
        self.account = account
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        alarm = Alarm(context.eventLoop) { [unowned self] in self.context?.close(promise: nil) }
        alarm?.set(limits.head)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        account.release(reservedOpening)
        reservedOpening = 0
        self.context = nil
    }

    // MARK: - Requests

    /// A head has arrived.
    func begin() {
        requests += 1
        if reservedOpening > 0 { account.release(reservedOpening) }
        (opening, reservedOpening) = (0, 0)
        guard phase != .lingering, let context else { return }
        phase = .busy
        alarm?.set(nil)
        connections.busy(context.channel)
    }

    /// The client has taken the answer of a request, or its stream is gone.
    func end() {
        requests -= 1
        guard requests == 0, phase != .lingering, let context else { return }
        phase = .idle
        // An idle connection of HTTP/2 is asked to leave before it is closed.
        alarm?.set(isMultiplexed ? limits.idle + limits.head : limits.idle)
        connections.idle(context.channel)
        admitHeld()
    }

    // MARK: - Memory

    /// Reserves bytes for a request that has begun: the accounts of its address and of the server must have as much left.
    func reserve(_ bytes: Int) -> Bool {
        do throws(BufferAccount.Refusal) {
            try account.reserve(bytes, beyondOwnLimit: true)
            return true
        } catch {
            return false
        }
    }

    /// Every reservation must be paired with a release, when the bytes were sent or are gone.
    func release(_ bytes: Int) {
        account.release(bytes)
        if !held.isEmpty { admitHeld() }
    }

    /// A request or a body was refused because too many bytes wait.
    func noteRefusal() { connections.buffers.countRefusal() }

    /// Whether a request of HTTP/2 must wait, since the client has asked for more than it takes; then it is released later.
    /// - Parameter answer: the expected size of its answer.
    func holds(_ request: RequestGuard, answer: Int) -> Bool {
        guard !held.isEmpty || !mayBegin(answer: answer) else { return false }
        held.append((request, answer))
        return true
    }

    /// A request that was held is gone.
    func leave(_ request: RequestGuard) { held.removeAll { $0.request === request } }

    /// One request may always be answered, however large its answer is.
    private func mayBegin(answer: Int) -> Bool { requests == 0 || answer <= connections.buffers.limits.connection - account.bytes }

    private func admitHeld() {
        guard !isAdmitting else { return }
        isAdmitting = true
        while let first = held.first, mayBegin(answer: first.answer) {
            held.removeFirst()
            first.request.release()
        }
        isAdmitting = false
    }

    // MARK: - Bytes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .lingering:
            lingered += unwrapInboundIn(data).readableBytes
            if lingered > limits.lingerBytes { context.close(promise: nil) }
            return
        case .idle where !isMultiplexed:
            phase = .head
            alarm?.set(limits.head)
        default: break
        }
        if phase == .opening || phase == .head { opening += unwrapInboundIn(data).readableBytes }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if opening > reservedOpening, !isMultiplexed {
            guard (try? account.reserve(opening - reservedOpening)) != nil else { return context.close(promise: nil) }
            reservedOpening = opening
        }
        guard phase == .lingering else { return context.fireChannelReadComplete() }
        // Whoever reads requests has stopped asking.
        context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        guard phase != .lingering else {
            promise?.succeed()
            return
        }
        guard !isInputClosed else { return context.close(mode: .all, promise: promise) }
        phase = .lingering
        alarm?.set(limits.linger)
        context.close(mode: .output, promise: promise)
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            isInputClosed = true
            if phase == .lingering { return context.close(promise: nil) }
        }
        if event is ChannelShouldQuiesceEvent {
            // In the middle of a handshake nobody else listens.
            if phase == .opening { return context.close(promise: nil) }
            // Whoever does not take his answers keeps the server no longer than others.
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(ConnectionLimits.grace)) { [self] in
                self.context?.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }
}
