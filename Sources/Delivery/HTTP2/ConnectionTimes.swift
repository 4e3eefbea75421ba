import NIOCore

/// The times of a connection, and what follows from them: whether it is overdue, silent or idle. All times are those of the event loop.
struct ConnectionTimes {
    /// The state of a connection's peer, as far as it is known.
    enum Life {
        case alive
        /// Nothing was received for some time; a PING is due.
        case silent
        /// A PING was not answered.
        case dead
    }

    private let limits: HTTP2Limits
    /// Number of calls of the timer.
    var tick: UInt32 = 0
    var connectingSince = NIODeadline.uptimeNanoseconds(0)
    var lastReceived = NIODeadline.uptimeNanoseconds(0)
    var lastStarted = NIODeadline.uptimeNanoseconds(0)
    var pingSent: NIODeadline?

    init(limits: HTTP2Limits) {
        self.limits = limits
    }

    func isHandshakeOverdue(_ now: NIODeadline) -> Bool { now - connectingSince > TimeAmount(limits.connect) }

    /// Number of ticks in which a push must be answered.
    func ticksPerAnswer(_ interval: TimeAmount) -> UInt32 {
        UInt32((TimeAmount(limits.answer).nanoseconds + interval.nanoseconds - 1) / interval.nanoseconds)
    }

    /// Records the PING that follows from silence.
    mutating func checkLife(_ now: NIODeadline) -> Life {
        if let pingSent { return now - pingSent > TimeAmount(limits.pingTimeout) ? .dead : .alive }
        guard now - lastReceived > TimeAmount(limits.pingAfter) else { return .alive }
        pingSent = now
        return .silent
    }

    /// Whether no push was started for too long.
    func isIdle(_ now: NIODeadline) -> Bool { now - lastStarted > TimeAmount(limits.idle) }
}
