import NIOCore

/// What only the passing of time shows. All moments are those of the event loop, seen once a tick.
extension PushHandler {
    /// Called about once per `interval`.
    func tick(_ now: NIODeadline, interval: TimeAmount) {
        tick &+= 1
        switch phase {
        case .connecting:
            if now - connectingSince > TimeAmount(limits.connect) { cut("TLS did not come about in time") }
        case .open, .draining:
            endOverdue(after: UInt32((TimeAmount(limits.answer).nanoseconds + interval.nanoseconds - 1) / interval.nanoseconds))
            checkLife(now)
            checkIdleness(now)
            pump()
        case .ended: break
        }
    }

    /// Looks at all: a thousand slots once a second cost less than to keep them in order of their time.
    private func endOverdue(after ticks: UInt32) {
        for slot in slots.liveSlots where tick &- slots[slot].pointee.begun > ticks {
            let (stream, isEnded) = (slots[slot].pointee.stream, slots[slot].pointee.isEnded)
            let ticket = slots.release(slot)
            codec.cancel(stream: stream)
            ticket.job.settle(ticket.index, isEnded ? .unknown(.overdue) : .notSent(.overdue))
        }
    }

    private func checkLife(_ now: NIODeadline) {
        if let pingSent {
            if now - pingSent > TimeAmount(limits.signOfLife) { cut("the connection gave no sign of life") }
        } else if now - lastHeard > TimeAmount(limits.silence) {
            codec.ping()
            pingSent = now
        }
    }

    private func checkIdleness(_ now: NIODeadline) {
        if phase == .open, slots.live == 0, now - lastBegun > TimeAmount(limits.idle) { sayGoodbye("nothing was sent for long") }
    }

    /// Ends it in good order: what is under way is answered first.
    func sayGoodbye(_ why: String) {
        isOurEnd = true
        guard phase != .connecting else { return cut(why) }
        drain(why)
        pump()
    }
}
