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
    /// Bytes of answers that the client has not taken yet.
    private var untaken = 0
    /// Requests that are not begun before the client has taken more, the first the longest; and whether one of them is answered now.
    private var held: [RequestGuard] = []
    private var isReleasing = false

    init(limits: ConnectionLimits, connections: Connections) {
        self.limits = limits
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        alarm = Alarm(context.eventLoop) { [unowned self] in self.context?.close(promise: nil) }
        alarm?.set(limits.head)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        self.context = nil
    }

    // MARK: - Requests

    /// A head has arrived.
    func begin() {
        requests += 1
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
    }

    // MARK: - Answers

    /// Bytes of an answer have been written.
    func owe(_ bytes: Int) { untaken += bytes }

    /// The client has taken them, or they are gone with their stream.
    func settle(_ bytes: Int) {
        untaken -= bytes
        guard !isReleasing, untaken <= limits.untakenBytes, !held.isEmpty else { return }
        isReleasing = true
        held.removeFirst().release()
    }

    /// Whether a request of HTTP/2 must wait, since the client has asked for more than it takes; then it is released later.
    func holds(_ request: RequestGuard) -> Bool {
        guard untaken > limits.untakenBytes || !held.isEmpty else { return false }
        held.append(request)
        return true
    }

    /// A request that was held has its answer, or is gone.
    func leave(_ request: RequestGuard, isReleased: Bool) {
        if isReleased { isReleasing = false } else { held.removeAll { $0 === request } }
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
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
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
