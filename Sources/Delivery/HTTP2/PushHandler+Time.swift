import NIOCore

/// Timeouts of a connection, checked once per tick. All times are those of the event loop.
extension PushHandler {
    /// Called about once per `interval`.
    func tick(_ now: NIODeadline, interval: TimeAmount) {
        tick &+= 1
        switch phase {
        case .connecting:
            if now - connectingSince > TimeAmount(limits.connect) { cut("the TLS handshake timed out") }
        case .open, .draining:
            endOverdue(after: UInt32((TimeAmount(limits.answer).nanoseconds + interval.nanoseconds - 1) / interval.nanoseconds))
            checkLife(now)
            checkIdleness(now)
            pump()
        case .ended: break
        }
    }

    /// Scans all slots: once a second for a thousand slots costs less than to keep them sorted by time.
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
            if now - pingSent > TimeAmount(limits.pingTimeout) { cut("the connection did not answer a PING") }
        } else if now - lastHeard > TimeAmount(limits.silence) {
            codec.ping()
            pingSent = now
        }
    }

    private func checkIdleness(_ now: NIODeadline) {
        if phase == .open, slots.live == 0, now - lastBegun > TimeAmount(limits.idle) {
            closeGracefully("the connection was idle for too long")
        }
    }

    /// Closes the connection gracefully: pushes in flight are answered first.
    func closeGracefully(_ why: String) {
        isOurEnd = true
        guard phase != .connecting else { return cut(why) }
        drain(why)
        pump()
    }
}
