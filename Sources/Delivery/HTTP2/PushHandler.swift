import NIOCore
import NIOTLS

/// What a connection tells the pool that it belongs to.
protocol PushHandlerOwner: AnyObject {
    /// It takes no more, what is under way is still answered; told again when it has given pushes back.
    func isDraining(_ handler: PushHandler)
    /// Nothing more comes from it.
    func hasEnded(_ handler: PushHandler, why: ConnectionRefusal)
}

/// One HTTP/2 connection for pushes, on its event loop: takes them from the queue as many as the peer allows, and settles each of
/// them once (RFC 9113; what counts as not sent: sections 6.8 and 8.7).
///
/// Nothing waits within the codec, so that what was not begun can go to another connection.
final class PushHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// Until TLS has come about.
        case connecting
        case open
        /// Takes no more.
        case draining
        case ended
    }

    let queue: PushQueue
    let slots: StreamSlots
    let codec: any PushCodec
    private let window: FlightWindow
    let limits: HTTP2Limits
    private let admit: (ChannelHandlerContext) -> String?
    weak var owner: (any PushHandlerOwner)?

    var phase = Phase.connecting
    /// Why it drains, or has ended.
    var reason: ConnectionRefusal?
    /// Requests that were answered.
    private var answers = 0
    /// Those of the window when it began.
    private let breaks: Int
    /// Whether it ends because we want it to.
    var isOurEnd = false
    var tick: UInt32 = 0
    var context: ChannelHandlerContext?
    private var out = ByteBuffer()
    private var spareEvents: [CodecEvent] = []
    private var isReading = false
    private var isPumping = false
    var connectingSince = NIODeadline.uptimeNanoseconds(0)
    var lastHeard = NIODeadline.uptimeNanoseconds(0)
    var lastBegun = NIODeadline.uptimeNanoseconds(0)
    var pingSent: NIODeadline?

    /// Bytes that are written at a time.
    private static let flushSize = 256 * 1024

    /// - Parameter admit: looks at the peer once TLS has come about; why it is not the right one, or nil.
    init(
        queue: PushQueue, slots: StreamSlots, codec: any PushCodec, window: FlightWindow, limits: HTTP2Limits,
        admit: @escaping (ChannelHandlerContext) -> String? = { _ in nil }
    ) {
        self.queue = queue
        self.slots = slots
        self.codec = codec
        self.window = window
        breaks = window.breaks
        self.limits = limits
        self.admit = admit
    }

    /// Whether a request was ever answered: the peer takes what we are sending.
    var hasAnswered: Bool { answers > 0 }

    /// How many more pushes it could begin now.
    var room: Int { phase == .open ? max(0, min(slots.capacity, codec.peerLimit, window.size) - slots.live) : 0 }

    // MARK: - What the channel tells

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connectingSince = context.eventLoop.now
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
                (lastHeard, lastBegun) = (context.eventLoop.now, context.eventLoop.now)
                pump()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .open || phase == .draining else { return }
        isReading = true
        lastHeard = context.eventLoop.now
        pingSent = nil
        do throws(CodecFailure) {
            try receive(unwrapInboundIn(data))
            settle()
        } catch {
            settle()
            cut("it broke the rules of HTTP/2")
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
        // What was read before is still settled; the rest when the channel is inactive.
        context.close(promise: nil)
    }

    // MARK: - Sending

    /// Begins what the peer allows and writes what there is to write.
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
            return cut("it broke the rules of HTTP/2")
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
        var room = room
        if room > 0, !queue.isEmpty { lastBegun = now }
        while room > 0, let ticket = queue.next() {
            let slot = slots.take(ticket, tick: tick)
            do throws(CodecFailure) {
                try codec.submit(slot)
            } catch {
                queue.putBack(slots.release(slot))
                isOurEnd = true
                drain("the connection has used all its stream identifiers")
                owner?.isDraining(self)
                return
            }
            room -= 1
        }
    }

    // MARK: - Outcomes

    /// Turns what the codec has seen into outcomes.
    private func settle() {
        var events = spareEvents
        spareEvents = []
        codec.exchangeEvents(with: &events)
        for event in events {
            switch event {
            case .ended(let slot, let stream, let code):
                // An earlier one of these may have ended it.
                if slots.place(slot, of: stream) != nil { settle(slot, code: code) }
            case .goAway(let said): drain("the service said goodbye: \(said)")
            case .alive: pingSent = nil
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
            ticket.job.settle(ticket.index, .answered(answer))
        } else if code == ErrorCode.refusedStream {
            queue.giveBack(ticket, .refused)
        } else {
            ticket.job.settle(ticket.index, isEnded ? .unknown(.reset(code)) : .notSent(.reset(code)))
        }
    }

    /// What comes back of the job is not sent again.
    func cancel(_ number: UInt64) {
        let slot = slots.liveSlots.first { slots[$0].pointee.ticket?.job.number == number }
        if let slot { slots[slot].pointee.ticket?.job.cancel() }
    }

    /// Begins nothing more; ends when everything under way is answered.
    func drain(_ why: String) {
        guard phase == .open else { return }
        phase = .draining
        reason = ConnectionRefusal(text: why)
    }

    /// Ends it now.
    func cut(_ why: String) {
        let context = context
        end(why)
        context?.close(promise: nil)
    }

    /// The last word: whatever is under way gets its outcome.
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
                ticket.job.settle(ticket.index, .answered(answer))
            } else if isEnded {
                isOpen = true
                ticket.job.settle(ticket.index, .unknown(.closed(why.text)))
            } else {
                queue.giveBack(ticket, .closed(why.text))
            }
        }
        if isOpen, !isOurEnd { window.broke(since: breaks, answers: answers) }
        owner?.hasEnded(self, why: why)
    }
}
