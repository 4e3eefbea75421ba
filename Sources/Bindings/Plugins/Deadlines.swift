import PushCore
import Synchronization

/// Ends what has not come back in time: one alarm for all calls, so that a call costs no timer of its own.
final class Deadlines: Sendable {
    /// A call that is under way.
    final class Entry: Sendable {
        fileprivate let end: Timestamp
        fileprivate let expire: @Sendable () -> Void
        fileprivate let passed = Atomic(false)

        fileprivate init(end: Timestamp, expire: @escaping @Sendable () -> Void) { (self.end, self.expire) = (end, expire) }

        /// Whether it was ended for that.
        var hasPassed: Bool { passed.load(ordering: .acquiring) }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var alarm: Task<Void, Never>?
        /// What the alarm rings for; nil where there is none.
        var moment: Timestamp?
    }

    private let clock: any HubClock
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// An alarm that nobody needs any more rings once for nothing, which costs less than one for each call. Where time is moved by hand
    /// it would be moved there.
    private let lingers: Bool
    private let state = Mutex(State())

    init(clock: any HubClock, start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>) {
        self.clock = clock.steady
        self.start = start
        lingers = !(clock is any SteppedClock)
    }

    deinit { state.withLock { $0.alarm }?.cancel() }

    /// - Parameter expire: called once, from anywhere, where the call was not ended before.
    func begin(after timeout: Duration, _ expire: @escaping @Sendable () -> Void) -> Entry {
        let entry = Entry(end: clock.now + timeout, expire: expire)
        state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = entry
            if state.moment.map({ entry.end < $0 }) ?? true { arm(&state) }
        }
        return entry
    }

    func end(_ entry: Entry) {
        state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = nil
            if !lingers, state.moment == entry.end { arm(&state) }
        }
    }

    private func arm(_ state: inout State) {
        state.alarm?.cancel()
        state.moment = state.entries.values.lazy.map(\.end).min()
        state.alarm = state.moment.map { moment in
            start { [weak self, clock] in
                guard (try? await clock.sleep(until: moment)) != nil else { return }
                self?.ring()
            }
        }
    }

    private func ring() {
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
