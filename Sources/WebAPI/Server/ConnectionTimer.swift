import NIOCore

/// A timer that fires once its deadline has passed and pending input has been read. A delayed event loop sees the deadline and the input at
/// the same time, the timer first; clients must not pay for that delay.
final class ConnectionTimer {
    /// Time for the loop to read input, and the lateness above which it counts as delayed.
    private static let timeout = TimeAmount.milliseconds(250)
    /// Maximum number of postponements, so that a loop that is always late still closes connections.
    private static let maximumPostponements = 10

    private let loop: any EventLoop
    private let action: () -> Void
    private var deadline: NIODeadline?
    private var delays = 0
    /// The scheduled task, at the deadline or earlier. It is not rescheduled each time, because deadlines move with every request.
    private var next: (time: NIODeadline, task: Scheduled<Void>)?

    var isSet: Bool { deadline != nil }

    /// - Parameter action: Must not retain the owner of the alarm.
    init(_ loop: any EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Sets the deadline relative to now; nil: never.
    func set(_ time: Duration?) {
        deadline = time.map { NIODeadline.now() + TimeAmount($0) }
        delays = 0
        guard let deadline, next.map({ deadline < $0.time }) ?? true else { return }
        next?.task.cancel()
        schedule(deadline)
    }

    func cancel() {
        deadline = nil
        next?.task.cancel()
        next = nil
    }

    private func schedule(_ time: NIODeadline) {
        next = (time, loop.assumeIsolated().scheduleTask(deadline: time) { [self] in look() })
    }

    private func look() {
        let (now, time) = (NIODeadline.now(), next?.time)
        next = nil
        guard let deadline, let time else { return }
        guard now >= deadline else { return schedule(deadline) }
        guard delays > 0, now - time < Self.timeout || delays == Self.maximumPostponements else {
            delays += 1
            return schedule(now + Self.timeout)
        }
        self.deadline = nil
        action()
    }
}
