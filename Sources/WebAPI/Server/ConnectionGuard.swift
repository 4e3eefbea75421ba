import NIOCore

/// The first handler of a connection, before TLS. Closes a connection whose handshake or request head is too slow or that is idle for too
/// long, and discards for some time what a client sends after its last response.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum Phase {
        /// No request has arrived yet.
        case opening
        case idle
        /// A request head is arriving.
        case head
        case busy
        /// All requests are answered; further input is discarded.
        case lingering
    }

    /// Whether requests are HTTP/2 streams. Then single bytes say nothing about request heads.
    var isMultiplexed = false

    private let limits: ConnectionLimits
    private let connections: Connections
    private var phase = Phase.opening
    private var requests = 0
    private var lingered = 0
    private var isInputClosed = false
    private var context: ChannelHandlerContext?
    private var alarm: ConnectionTimer?
    /// Bytes buffered for this connection.
    private let account: BufferAccount
    /// Requests that wait until the client has read more of its responses, in order of arrival, each with the expected size of its
    /// response.
    private var held: [(request: RequestGuard, answer: Int)] = []
    private var isAdmitting = false
    /// Bytes of an incomplete handshake or head: received and reserved.
    private var (opening, reservedHandshakeBytes) = (0, 0)
    /// How many of these came together with the end of the previous request, and may have belonged to it.
    private var shared = 0
    /// Whether all requests that have begun have arrived completely, so that further input is a head.
    private var isBetweenRequests = true
    /// Bytes that arrived since the last complete read.
    private var arriving = 0

    init(limits: ConnectionLimits, connections: Connections, account: BufferAccount) {
        self.limits = limits
        self.connections = connections
        self.account = account
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        alarm = ConnectionTimer(context.eventLoop) { [unowned self] in self.context?.close(promise: nil) }
        alarm?.set(limits.head)
        connections.buffers.eviction.add(context.channel, account)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        account.release(reservedHandshakeBytes)
        reservedHandshakeBytes = 0
        self.context = nil
    }

    // MARK: - Requests

    /// A request head has arrived.
    func begin() {
        requests += 1
        isBetweenRequests = false
        releaseHead()
        guard phase != .lingering, let context else { return }
        phase = .busy
        alarm?.set(nil)
        connections.busy(context.channel)
    }

    /// A request of an HTTP/1.1 connection has arrived completely. At most all bytes of the current read are a head behind it.
    func inputEnded() {
        isBetweenRequests = true
        (opening, shared) = (arriving, arriving)
    }

    /// Further input is discarded.
    func ignoreInput() {
        isBetweenRequests = false
        releaseHead()
    }

    private func releaseHead() {
        if reservedHandshakeBytes > 0 { account.release(reservedHandshakeBytes) }
        (opening, shared, reservedHandshakeBytes) = (0, 0, 0)
    }

    /// The client has received the response of a request, or its stream has ended.
    func end() {
        requests -= 1
        guard requests == 0, phase != .lingering, let context else { return }
        if !isMultiplexed, opening > shared {
            // A part of the next head has arrived already.
            phase = .head
            alarm?.set(limits.head)
        } else {
            phase = .idle
            if !isMultiplexed { releaseHead() }
            // The client of an idle HTTP/2 connection gets a GOAWAY before the connection is closed.
            alarm?.set(isMultiplexed ? limits.idle + limits.head : limits.idle)
        }
        connections.idle(context.channel)
        beginWaitingRequests()
    }

    // MARK: - Memory

    /// Reserves bytes for a request that has begun. Fails if the account of its address or of the server has too little left.
    func reserve(_ bytes: Int) -> Bool { reserve(bytes, beyondOwnLimit: true) }

    private func reserve(_ bytes: Int, beyondOwnLimit: Bool) -> Bool {
        guard connections.buffers.eviction.allows(bytes, for: account) else { return false }
        return (try? account.reserve(bytes, beyondOwnLimit: beyondOwnLimit)) != nil
    }

    /// Releases reserved bytes that were sent or dropped. Every reservation must be paired with a release.
    func release(_ bytes: Int) {
        account.release(bytes)
        if !held.isEmpty { beginWaitingRequests() }
    }

    /// Counts a request or body that was rejected because too many bytes are buffered.
    func noteRefusal() { connections.buffers.countRefusal() }

    /// Whether an HTTP/2 request must wait because the client does not read its responses. It is released later.
    /// - Parameter answer: The expected size of its response.
    func holds(_ request: RequestGuard, answer: Int) -> Bool {
        guard !held.isEmpty || !mayBegin(answer: answer) else { return false }
        held.append((request, answer))
        return true
    }

    /// Removes a waiting request whose stream has ended.
    func leave(_ request: RequestGuard) { held.removeAll { $0.request === request } }

    /// A single request is always allowed, however large its response is.
    private func mayBegin(answer: Int) -> Bool { requests == 0 || answer <= connections.buffers.limits.connection - account.bytes }

    private func beginWaitingRequests() {
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
        let bytes = unwrapInboundIn(data).readableBytes
        arriving += bytes
        if isBetweenRequests, !isMultiplexed { opening += bytes }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // When lingering, the handlers that read requests no longer ask for input.
        if phase == .lingering { context.read() } else { context.fireChannelReadComplete() }
        arriving = 0
        reserveHead()
    }

    /// Reserves memory for an incomplete head. Closes the connection if there is none left.
    private func reserveHead() {
        guard let context, opening > reservedHandshakeBytes, !isMultiplexed else { return }
        if reserve(opening - reservedHandshakeBytes, beyondOwnLimit: false) {
            reservedHandshakeBytes = opening
        } else if opening > shared {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The streams that close now release bytes, which must not begin the requests that wait for them.
        held = []
        context.fireChannelInactive()
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
            // During a handshake no other handler handles the shutdown.
            if phase == .opening { return context.close(promise: nil) }
            // A client that does not read its responses must not delay the shutdown beyond the grace period.
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(ConnectionLimits.grace)) { [self] in
                self.context?.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }
}
