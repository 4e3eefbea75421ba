package import PushModel
import Synchronization

/// The clock of a lab. It runs with the system's clock, ahead of it by the time that scripts have skipped, and stops while it is held. It
/// never goes back.
///
/// Sleeping tasks wake in the order of their deadlines, when the clock is advanced or runs past them.
package final class LabClock: HubClock {
    private struct State {
        /// How far the clock is ahead of the system's.
        var lead: Duration
        /// The latest time that was returned.
        var latest: Timestamp
        var holders = 0
        /// Deadlines of sleeping tasks, added before the tasks suspend. Those of cancelled tasks stay until they are due.
        var deadlines = TimeQueue<Void>()
        /// Wakes tasks at the first deadline while the clock runs; `armed` is that deadline.
        var alarm: Task<Void, Never>?
        var armed: Timestamp?
    }

    /// The latest time to which a session can advance the clock. Dates after it still have years of four digits.
    package static let last = Timestamp(milliseconds: 221_845_392_000_000)
    /// A lab does not start closer to `last` than this, because hardly any time would be left to skip.
    private static let margin: Duration = .seconds(1000 * 366 * 86_400)

    /// Whether `lead` was ignored because it came too close to `last`.
    let wasReset: Bool
    private let system: any HubClock
    /// The suspended tasks. This clock's own time is the last at which tasks were woken.
    private let sleepingTasks: VirtualClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - system: the clock that this one runs with.
    ///   - lead: how far to start ahead of it; ignored if hardly any time would be left to skip.
    init(system: any HubClock, lead: Duration = .zero) {
        wasReset = lead > Self.last - system.now - Self.margin
        let lead = wasReset ? .zero : lead
        let now = system.now + lead
        self.system = system
        sleepingTasks = VirtualClock(now: now)
        state = Mutex(State(lead: lead, latest: now))
    }

    deinit { state.withLock { $0.alarm?.cancel() } }

    package var now: Timestamp { state.withLock { currentTime(&$0) } }

    private func currentTime(_ state: inout State) -> Timestamp {
        if state.holders == 0 { state.latest = max(state.latest, system.now + state.lead) }
        return state.latest
    }

    /// How far the clock is ahead of the system's.
    var lead: Duration { max(.zero, now - system.now) }

    /// The earliest deadline of a sleeping task.
    package var nextDeadline: Timestamp? { sleepingTasks.nextDeadline }

    var sleepingTaskCount: Int { sleepingTasks.sleepingTaskCount }

    package func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        if announce(deadline) { try await sleepingTasks.sleep(until: deadline) }
    }

    /// Registers a deadline before the caller suspends, so that it is woken however late it suspends. Returns false if the deadline has
    /// passed.
    func announce(_ deadline: Timestamp) -> Bool {
        state.withLock { state in
            guard currentTime(&state) < deadline else { return false }
            state.deadlines.insert((), at: deadline)
            arm(&state)
            return true
        }
    }

    // MARK: - Stopping

    /// Stops the clock until every `hold()` has been followed by a `release()`.
    func hold() {
        state.withLock { state in
            _ = currentTime(&state)
            state.holders += 1
            disarm(&state)
        }
    }

    /// Ends a hold. After the last one the clock runs on from its time, or from the system's if that is later.
    func release() {
        state.withLock { state in
            state.holders -= 1
            guard state.holders == 0 else { return }
            state.lead = max(.zero, state.latest - system.now)
        }
        wake()
    }

    /// Advances a stopped clock to `time` and wakes all tasks with deadlines up to then. Does nothing if the clock runs or `time` has
    /// passed.
    package func advance(to time: Timestamp) {
        let now = state.withLock { state in
            if state.holders > 0 { state.latest = max(state.latest, time) }
            return due(&state)
        }
        sleepingTasks.advance(to: now)
    }

    // MARK: - Running

    private func wake() {
        let now = state.withLock { state in
            let now = due(&state)
            arm(&state)
            return now
        }
        sleepingTasks.advance(to: now)
    }

    /// Returns the time and removes the deadlines up to it. A task that has not suspended yet finds its deadline passed.
    private func due(_ state: inout State) -> Timestamp {
        let now = currentTime(&state)
        while state.deadlines.popFirst(dueBy: now) != nil {}
        return now
    }

    private func arm(_ state: inout State) {
        guard state.holders == 0, let first = state.deadlines.first?.time, state.armed.map({ first < $0 }) ?? true else { return }
        state.alarm?.cancel()
        state.armed = first
        let fireTime = first + (.zero - state.lead)
        state.alarm = Task { [system, weak self] in
            guard (try? await system.sleep(until: fireTime)) != nil else { return }
            self?.fire(first)
        }
    }

    private func disarm(_ state: inout State) {
        state.alarm?.cancel()
        (state.alarm, state.armed) = (nil, nil)
    }

    private func fire(_ deadline: Timestamp) {
        let isMine = state.withLock { state in
            guard state.armed == deadline else { return false }
            (state.alarm, state.armed) = (nil, nil)
            return true
        }
        if isMine { wake() }
    }
}
