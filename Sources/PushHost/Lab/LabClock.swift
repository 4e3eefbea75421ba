import PushCore
import Synchronization

/// The time of a lab: it ticks with the system's, ahead of it by what scripts have skipped, and stands still as long as somebody
/// holds it. It never goes back.
///
/// Whoever sleeps wakes in the order of the deadlines, when the time is stepped or ticks past them.
final class LabClock: HubClock {
    private struct State {
        /// How far it is ahead of the system's.
        var lead: Duration
        /// The latest that anybody was told.
        var latest: Timestamp
        var holders = 0
        /// Rings at the first moment that anybody waits for, while the time ticks.
        var alarm: Task<Void, Never>?
        var armed: Timestamp?
        /// The first moment of somebody who may not have fallen asleep yet when the alarm is set the next time.
        var missed: Timestamp?
    }

    private let system: any HubClock
    /// Who sleeps; its own time is the last at which somebody woke.
    private let sleepers: VirtualClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - system: what it ticks with.
    ///   - lead: how far it is ahead of that.
    init(system: any HubClock, lead: Duration = .zero) {
        let now = system.now + lead
        self.system = system
        sleepers = VirtualClock(now: now)
        state = Mutex(State(lead: lead, latest: now))
    }

    deinit { state.withLock { $0.alarm?.cancel() } }

    var now: Timestamp { state.withLock { moment(&$0) } }

    private func moment(_ state: inout State) -> Timestamp {
        if state.holders == 0 { state.latest = max(state.latest, system.now + state.lead) }
        return state.latest
    }

    /// How far it is ahead of the system's time.
    var lead: Duration { max(.zero, now - system.now) }

    /// The earliest moment that anybody waits for.
    var nextDeadline: Timestamp? { sleepers.nextDeadline }

    var sleeperCount: Int { sleepers.sleeperCount }

    func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        let isPast = state.withLock { state in
            guard moment(&state) < deadline else { return true }
            arm(&state, for: deadline)
            return false
        }
        if !isPast { try await sleepers.sleep(until: deadline) }
    }

    // MARK: - Standing

    /// Lets the time stand still until everybody who held it has let go.
    func hold() {
        state.withLock { state in
            _ = moment(&state)
            state.holders += 1
            disarm(&state)
        }
    }

    /// The time ticks on from where it stands, or from the system's where that is ahead.
    func release() {
        state.withLock { state in
            state.holders -= 1
            guard state.holders == 0 else { return }
            state.lead = max(.zero, state.latest - system.now)
        }
        wake()
    }

    /// Moves on to `moment`, and wakes everybody who waited for one until then. Nothing happens while the time ticks, or for a
    /// moment that has passed.
    func advance(to moment: Timestamp) {
        let now = state.withLock { state in
            if state.holders > 0 { state.latest = max(state.latest, moment) }
            return self.moment(&state)
        }
        sleepers.advance(to: now)
    }

    // MARK: - Ticking

    private func wake() {
        sleepers.advance(to: now)
        state.withLock { state in
            let next = [sleepers.nextDeadline, state.missed].compactMap { $0 }.min()
            state.missed = nil
            if let next { arm(&state, for: next) }
        }
    }

    private func arm(_ state: inout State, for deadline: Timestamp) {
        guard state.holders == 0, state.armed.map({ deadline < $0 }) ?? true else {
            state.missed = min(state.missed ?? deadline, deadline)
            return
        }
        if let armed = state.armed { state.missed = min(state.missed ?? armed, armed) }
        state.alarm?.cancel()
        state.armed = deadline
        let ring = deadline + (.zero - state.lead)
        state.alarm = Task { [system, weak self] in
            guard (try? await system.sleep(until: ring)) != nil else { return }
            self?.ring(deadline)
        }
    }

    private func disarm(_ state: inout State) {
        state.alarm?.cancel()
        (state.alarm, state.armed) = (nil, nil)
    }

    private func ring(_ deadline: Timestamp) {
        let isMine = state.withLock { state in
            guard state.armed == deadline else { return false }
            (state.alarm, state.armed) = (nil, nil)
            return true
        }
        if isMine { wake() }
    }
}
