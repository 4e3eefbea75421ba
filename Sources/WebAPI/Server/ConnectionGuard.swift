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
    private var deadline: NIODeadline?
    /// Rings at the deadline or sooner: the deadline of a connection that is used moves with every request.
    private var alarm: (time: NIODeadline, task: Scheduled<Void>)?

    init(limits: ConnectionLimits, connections: Connections) {
        self.limits = limits
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        allow(limits.head)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.task.cancel()
        alarm = nil
        self.context = nil
    }

    // MARK: - Requests

    /// A head has arrived.
    func begin() {
        requests += 1
        guard phase != .lingering, let context else { return }
        phase = .busy
        allow(nil)
        connections.busy(context.channel)
    }

    /// A request was answered, or its stream is gone.
    func end() {
        requests -= 1
        guard requests == 0, phase != .lingering, let context else { return }
        phase = .idle
        // An idle connection of HTTP/2 is asked to leave before it is closed.
        allow(isMultiplexed ? limits.idle + limits.head : limits.idle)
        connections.idle(context.channel)
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
            allow(limits.head)
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
        allow(limits.linger)
        context.close(mode: .output, promise: promise)
        context.read()
    }

    /// A client that does not read what it has asked for is idle too.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if phase == .busy { allow(context.channel.isWritable ? nil : limits.idle) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            isInputClosed = true
            if phase == .lingering { return context.close(promise: nil) }
        }
        // In the middle of a handshake nobody else listens.
        if event is ChannelShouldQuiesceEvent, phase == .opening { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: - Time

    private func allow(_ time: Duration?) {
        deadline = time.map { NIODeadline.now() + TimeAmount($0) }
        guard let deadline, alarm.map({ deadline < $0.time }) ?? true else { return }
        alarm?.task.cancel()
        setAlarm(deadline)
    }

    private func setAlarm(_ time: NIODeadline) {
        guard let context else { return }
        alarm = (time, context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in ring() })
    }

    private func ring() {
        alarm = nil
        guard let deadline else { return }
        if NIODeadline.now() < deadline { setAlarm(deadline) } else { context?.close(promise: nil) }
    }
}
