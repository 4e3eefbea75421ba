import Synchronization

/// A clock that stands still until all tasks sleep, then jumps to the next deadline.
///
/// Three days of reminders take milliseconds. The order of wake-ups depends only on the deadlines; tasks with equal deadlines wake in the
/// order in which they fell asleep.
package final class VirtualClock: HubClock {
    private struct State {
        var now: Timestamp
        var serial: UInt64 = 0
        /// By serial. A cancelled sleeper is removed at once.
        var sleepingTasks: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        /// Serials by deadline. Those of cancelled sleepers stay until their deadline.
        var deadlines = TimeQueue<UInt64>()
        /// Serials of tasks that were cancelled before they fell asleep.
        var cancelled: Set<UInt64> = []

        /// The earliest deadline of a task that still sleeps.
        mutating func nextDeadline() -> Timestamp? {
            while let first = deadlines.first {
                if sleepingTasks[first.subject] != nil { return first.time }
                _ = deadlines.popFirst()
            }
            return nil
        }
    }

    private let state: Mutex<State>

    package init(now: Timestamp) {
        state = Mutex(State(now: now))
    }

    package var now: Timestamp { state.withLock { $0.now } }

    package var sleepingTaskCount: Int { state.withLock { $0.sleepingTasks.count } }

    /// The earliest deadline; nil if no task sleeps.
    package var nextDeadline: Timestamp? { state.withLock { $0.nextDeadline() } }

    package var hasSleepingTasks: Bool { sleepingTaskCount > 0 }

    package func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(serial) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepingTasks[serial] = continuation
                    state.deadlines.insert(serial, at: deadline)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepingTasks.removeValue(forKey: serial)
                if sleeper == nil { state.cancelled.insert(serial) }
                return sleeper
            }
            sleeper?.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(serial) }
    }

    /// Jumps to the earliest deadline and wakes the tasks that wait for it. Returns false if no task sleeps.
    package func advanceToNextDeadline() -> Bool {
        guard let next = state.withLock({ $0.nextDeadline() }) else { return false }
        advance(to: next)
        return true
    }

    /// Advances to `time` and wakes all tasks whose deadlines have passed. Never moves back.
    package func advance(to time: Timestamp) {
        let due: [CheckedContinuation<Void, any Error>] = state.withLock { state in
            state.now = max(state.now, time)
            var due: [CheckedContinuation<Void, any Error>] = []
            while let serial = state.deadlines.popFirst(dueBy: state.now) {
                if let sleeper = state.sleepingTasks.removeValue(forKey: serial) { due.append(sleeper) }
            }
            return due
        }
        for sleeper in due { sleeper.resume() }
    }
}
