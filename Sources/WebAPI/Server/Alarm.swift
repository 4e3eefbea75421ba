import NIOCore

/// Rings when a deadline has passed and what came before it has been read: a loop that was held up for long finds both at once,
/// the alarm first, and clients would have to answer for its delay.
final class Alarm {
    /// For a loop to read in, and how late it may come without being taken for held up.
    private static let patience = TimeAmount.milliseconds(250)
    /// A loop that is always late must not keep its clients for ever.
    private static let mostDelays = 10

    private let loop: any EventLoop
    private let action: () -> Void
    private var deadline: NIODeadline?
    private var delays = 0
    /// Comes at the deadline or sooner: deadlines move with every request.
    private var next: (time: NIODeadline, task: Scheduled<Void>)?

    var isSet: Bool { deadline != nil }

    /// - Parameter action: must not hold whoever holds the alarm.
    init(_ loop: any EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// From now on; nil for never.
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
        guard delays > 0, now - time < Self.patience || delays == Self.mostDelays else {
            delays += 1
            return schedule(now + Self.patience)
        }
        self.deadline = nil
        action()
    }
}
