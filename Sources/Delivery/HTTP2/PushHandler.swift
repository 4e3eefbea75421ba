import NIOCore
import NIOTLS

/// One HTTP/2 connection for pushes, on its event loop. It takes as many pushes from the queue as the peer allows, and settles each of them
/// once (RFC 9113; for what counts as not sent, see sections 6.8 and 8.7).
///
/// Nothing waits in the codec, so that pushes that were not started can go to another connection.
final class PushHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Until the TLS handshake is complete.
        case connecting
        case open
        /// Accepts no more pushes.
        case draining
        case ended
    }

    let queue: PushQueue
    let slots: StreamSlots
    let codec: any PushCodec
    private let window: CongestionWindow
    private let admit: (ChannelHandlerContext) -> String?
    weak var owner: (any PushHandlerOwner)?

    var phase = Phase.connecting
    /// Why it drains, or has ended.
    var reason: ConnectionRefusal?
    /// Number of answered requests.
    private var answers = 0
    /// Number of losses of the window when this connection was opened.
    private let breaks: Int
    /// Whether this side ends the connection.
    var isOurEnd = false
    var context: ChannelHandlerContext?
    private var out = ByteBuffer()
    private var spareEvents: [CodecEvent] = []
    private var isReading = false
    private var isPumping = false
    private(set) var times: ConnectionTimes

    /// Number of bytes written at a time.
    private static let flushSize = 256 * 1024

    /// - Parameter admit: Checks the peer after the TLS handshake. Returns why it is not the expected one, or `nil`.
    init(
        queue: PushQueue, slots: StreamSlots, codec: any PushCodec, window: CongestionWindow, limits: HTTP2Limits,
        admit: @escaping (ChannelHandlerContext) -> String? = { _ in nil }
    ) {
        self.queue = queue
        self.slots = slots
        self.codec = codec
        self.window = window
        breaks = window.breaks
        times = ConnectionTimes(limits: limits)
        self.admit = admit
    }

    /// Whether a request was ever answered, so that the peer is known to accept pushes.
    var hasAnswered: Bool { answers > 0 }

    /// How many more pushes it can start now.
    var freeSlots: Int { phase == .open ? max(0, min(slots.capacity, codec.peerLimit, window.size) - slots.live) : 0 }

    // MARK: - Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        times.connectingSince = context.eventLoop.now
        out.reserveCapacity(64 * 1024)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end("the connection was closed")
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name)? = event as? TLSUserEvent, phase == .connecting {
            if name != "h2" {
                let choice = name.map { "\"\($0)\"" } ?? "nothing"
                reason = ConnectionRefusal(
                    text: "it does not speak HTTP/2 (ALPN offered h2, and it chose \(choice))", kind: .withoutHTTP2)
                cut("it does not speak HTTP/2")
            } else if let objection = admit(context) {
                cut(objection)
            } else {
                phase = .open
                (times.lastReceived, times.lastStarted) = (context.eventLoop.now, context.eventLoop.now)
                pump()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .open || phase == .draining else { return }
        isReading = true
        times.lastReceived = context.eventLoop.now
        times.pingSent = nil
        do throws(CodecFailure) {
            try receive(unwrapInboundIn(data))
            settle()
        } catch {
            settle()
            cut("it violated the HTTP/2 protocol")
        }
    }

    private func receive(_ buffer: ByteBuffer) throws(CodecFailure) {
        try buffer.withUnsafeReadableBytes { bytes throws(CodecFailure) in try codec.receive(bytes) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        pump()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { pump() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end("the connection was closed")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if reason == nil { reason = ConnectionFault.refusal(error) }
        // Responses read so far are still settled; the rest follows when the channel becomes inactive.
        context.close(promise: nil)
    }

    // MARK: - Sending

    /// Starts as many pushes as the peer allows and writes pending frames.
    func pump() {
        guard let context, phase == .open || phase == .draining, !isReading, !isPumping, context.channel.isWritable else { return }
        isPumping = true
        if phase == .open { begin(context.eventLoop.now) }
        if phase == .draining, slots.live == 0 { codec.goAway() }
        out.clear()
        do throws(CodecFailure) {
            try codec.write(to: &out, limit: Self.flushSize)
        } catch {
            isPumping = false
            return cut("it violated the HTTP/2 protocol")
        }
        if out.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(out), promise: nil) }
        isPumping = false
        settle()
        if isOver { context.close(promise: nil) }
    }

    private var isOver: Bool {
        switch phase {
        case .connecting, .ended: false
        case .open: codec.isFinished
        case .draining: slots.live == 0 || codec.isFinished
        }
    }

    private func begin(_ now: NIODeadline) {
        var freeSlots = freeSlots
        if freeSlots > 0, !queue.isEmpty { times.lastStarted = now }
        while freeSlots > 0, let ticket = queue.next() {
            let slot = slots.take(ticket, tick: times.tick)
            do throws(CodecFailure) {
                try codec.submit(slot)
            } catch {
                queue.putBack(slots.release(slot))
                isOurEnd = true
                drain("the connection has used all its stream identifiers")
                owner?.isDraining(self)
                return
            }
            freeSlots -= 1
        }
    }

    // MARK: - Outcomes

    /// Converts the codec's events into outcomes.
    private func settle() {
        var events = spareEvents
        spareEvents = []
        codec.exchangeEvents(with: &events)
        for event in events {
            switch event {
            case .ended(let slot, let stream, let code):
                // An earlier event of this batch may have released the slot.
                if slots.pointer(slot, of: stream) != nil { settle(slot, code: code) }
            case .goAway(let reason): drain("the service closed the connection: \(reason)")
            case .alive: times.pingSent = nil
            }
        }
        let hasSeen = !events.isEmpty
        events.removeAll(keepingCapacity: true)
        spareEvents = events
        if hasSeen, phase == .draining { owner?.isDraining(self) }
    }

    private func settle(_ slot: Int32, code: UInt32) {
        let (answer, isEnded) = (slots[slot].pointee.answer, slots[slot].pointee.isEnded)
        let ticket = slots.release(slot)
        if let answer {
            answers += 1
            window.answered()
            ticket.job.finish(ticket.index, .answered(answer))
        } else if code == ErrorCode.refusedStream {
            queue.requeue(ticket, .refused)
        } else {
            ticket.job.finish(ticket.index, isEnded ? .unknown(.reset(code)) : .notSent(.reset(code)))
        }
    }

    // MARK: - Timeouts

    /// Called about once per `interval`. All times are those of the event loop.
    func tick(_ now: NIODeadline, interval: TimeAmount) {
        times.tick &+= 1
        switch phase {
        case .connecting:
            if times.isHandshakeOverdue(now) { cut("the TLS handshake timed out") }
        case .open, .draining:
            endOverdue(after: times.ticksPerAnswer(interval))
            switch times.checkLife(now) {
            case .alive: break
            case .silent: codec.ping()
            case .dead: cut("the connection did not answer a PING")
            }
            if phase == .open, slots.live == 0, times.isIdle(now) { closeGracefully("the connection was idle for too long") }
            pump()
        case .ended: break
        }
    }

    /// Scans all slots: once a second for a thousand slots costs less than to keep them sorted by time.
    private func endOverdue(after ticks: UInt32) {
        for slot in slots.liveSlots where times.tick &- slots[slot].pointee.startTick > ticks {
            let (stream, isEnded) = (slots[slot].pointee.stream, slots[slot].pointee.isEnded)
            let ticket = slots.release(slot)
            codec.cancel(stream: stream)
            ticket.job.finish(ticket.index, isEnded ? .unknown(.overdue) : .notSent(.overdue))
        }
    }

    // MARK: - End

    /// Closes the connection gracefully: pushes in flight are answered first.
    func closeGracefully(_ why: String) {
        isOurEnd = true
        guard phase != .connecting else { return cut(why) }
        drain(why)
        pump()
    }

    /// Marks the job as cancelled: pushes of it that come back are not sent again.
    func cancel(_ number: UInt64) {
        let slot = slots.liveSlots.first { slots[$0].pointee.ticket?.job.number == number }
        if let slot { slots[slot].pointee.ticket?.job.cancel() }
    }

    /// Starts no more pushes, and ends when all pushes in flight are answered.
    func drain(_ why: String) {
        guard phase == .open else { return }
        phase = .draining
        reason = ConnectionRefusal(text: why)
    }

    /// Ends the connection now.
    func cut(_ why: String) {
        let context = context
        end(why)
        context?.close(promise: nil)
    }

    /// Ends the connection: every push in flight gets an outcome or goes back to the queue.
    private func end(_ why: String) {
        guard phase != .ended else { return }
        let why = reason ?? ConnectionRefusal(text: why)
        phase = .ended
        var isOpen = false
        for slot in slots.liveSlots {
            let (answer, isEnded) = (slots[slot].pointee.answer, slots[slot].pointee.isEnded)
            let ticket = slots.release(slot)
            if let answer {
                answers += 1
                ticket.job.finish(ticket.index, .answered(answer))
            } else if isEnded {
                isOpen = true
                ticket.job.finish(ticket.index, .unknown(.closed(why.text)))
            } else {
                queue.requeue(ticket, .closed(why.text))
            }
        }
        if isOpen, !isOurEnd { window.broke(since: breaks, answers: answers) }
        owner?.hasEnded(self, why: why)
    }
}
