import PushModel
import Synchronization

/// Ends calls that exceed their time limit. One alarm serves all calls, so that a call needs no timer of its own.
final class Deadlines: Sendable {
    /// A call in progress.
    final class Entry: Sendable {
        fileprivate let end: Timestamp
        fileprivate let expire: @Sendable () -> Void
        fileprivate let passed = Atomic(false)

        fileprivate init(end: Timestamp, expire: @escaping @Sendable () -> Void) { (self.end, self.expire) = (end, expire) }

        /// Whether the call exceeded its limit.
        var hasPassed: Bool { passed.load(ordering: .acquiring) }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var alarm: Task<Void, Never>?
        /// The time for which the alarm is set; nil if there is none.
        var time: Timestamp?
    }

    private let clock: any HubClock
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Whether an alarm stays set after its call has ended. Waking up once for nothing costs less than resetting it for each call. A
    /// stepped clock would advance to the unused alarm, so there it is reset.
    private let keepsAlarm: Bool
    private let state = Mutex(State())

    init(clock: any HubClock, start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>) {
        self.clock = clock.steady
        self.start = start
        keepsAlarm = !(clock is any SteppedClock)
    }

    deinit { state.withLock { $0.alarm }?.cancel() }

    /// Starts the limit of a call.
    ///
    /// - Parameter expire: Called once, from any thread, if the call has not ended in time.
    func begin(after timeout: Duration, _ expire: @escaping @Sendable () -> Void) -> Entry {
        let entry = Entry(end: clock.now + timeout, expire: expire)
        state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = entry
            if state.time.map({ entry.end < $0 }) ?? true { arm(&state) }
        }
        return entry
    }

    func end(_ entry: Entry) {
        state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = nil
            if !keepsAlarm, state.time == entry.end { arm(&state) }
        }
    }

    private func arm(_ state: inout State) {
        state.alarm?.cancel()
        state.time = state.entries.values.lazy.map(\.end).min()
        state.alarm = state.time.map { time in
            start { [weak self, clock] in
                guard (try? await clock.sleep(until: time)) != nil else { return }
                self?.fire()
            }
        }
    }

    private func fire() {
        let now = clock.now
        let due = state.withLock { state in
            let due = state.entries.values.filter { $0.end <= now }
            for entry in due { state.entries[ObjectIdentifier(entry)] = nil }
            arm(&state)
            return due
        }
        for entry in due {
            entry.passed.store(true, ordering: .releasing)
            entry.expire()
        }
    }
}
