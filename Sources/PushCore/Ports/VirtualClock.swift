import Synchronization

/// A clock that stands still until everybody sleeps, then jumps to the next moment somebody waits for.
///
/// Three days of reminders take milliseconds, and the order of wake-ups depends on their deadlines alone: sleepers with
/// the same deadline wake in the order in which they fell asleep.
package final class VirtualClock: HubClock {
    private struct State {
        var now: Timestamp
        var serial: UInt64 = 0
        /// By serial; whoever is cancelled leaves here at once.
        var sleepers: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        /// The serials by deadline, those of cancelled sleepers among them until their turn comes.
        var deadlines = TimeQueue<UInt64>()
        /// Cancelled before they could fall asleep.
        var cancelled: Set<UInt64> = []

        /// The earliest deadline of somebody who still sleeps.
        mutating func nextDeadline() -> Timestamp? {
            while let first = deadlines.first {
                if sleepers[first.subject] != nil { return first.moment }
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

    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The earliest moment that somebody waits for.
    package var nextDeadline: Timestamp? { state.withLock { $0.nextDeadline() } }

    package var hasSleepers: Bool { sleeperCount > 0 }

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
                    state.sleepers[serial] = continuation
                    state.deadlines.insert(serial, at: deadline)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: serial)
                if sleeper == nil { state.cancelled.insert(serial) }
                return sleeper
            }
            sleeper?.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(serial) }
    }

    /// Jumps to the earliest deadline and wakes whoever waits for it. False when nobody sleeps.
    package func advanceToNextSleeper() -> Bool {
        guard let next = state.withLock({ $0.nextDeadline() }) else { return false }
        advance(to: next)
        return true
    }

    /// Moves on to `moment` and wakes everybody whose deadline has come; never moves back.
    package func advance(to moment: Timestamp) {
        let due: [CheckedContinuation<Void, any Error>] = state.withLock { state in
            state.now = max(state.now, moment)
            var due: [CheckedContinuation<Void, any Error>] = []
            while let serial = state.deadlines.popFirst(dueBy: state.now) {
                if let sleeper = state.sleepers.removeValue(forKey: serial) { due.append(sleeper) }
            }
            return due
        }
        for sleeper in due { sleeper.resume() }
    }
}
