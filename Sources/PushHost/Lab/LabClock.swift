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
        /// For when everybody wants to be woken, from before they fall asleep; those of cancelled sleepers among them until their turn
        /// comes.
        var deadlines = TimeQueue<Void>()
        /// Rings at the first of them, while the time ticks.
        var alarm: Task<Void, Never>?
        var armed: Timestamp?
    }

    /// No session takes it further: it ticks on from there, and what has a date after it still has four digits of the year.
    static let last = Timestamp(milliseconds: 221_845_392_000_000)
    /// Nearer to the last moment no lab begins: there would be nothing left to skip.
    private static let margin: Duration = .seconds(1000 * 366 * 86_400)

    /// Whether it was further ahead than a lab may begin with.
    let hasBegunAnew: Bool
    private let system: any HubClock
    /// Who sleeps; its own time is the last at which somebody woke.
    private let sleepers: VirtualClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - system: what it ticks with.
    ///   - lead: how far it is ahead of that; as good as none where little would be left to skip.
    init(system: any HubClock, lead: Duration = .zero) {
        hasBegunAnew = lead > Self.last - system.now - Self.margin
        let lead = hasBegunAnew ? .zero : lead
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
        if announce(deadline) { try await sleepers.sleep(until: deadline) }
    }

    /// To be called by whoever is about to fall asleep: from now on they are woken, however long that takes them. False for a moment
    /// that has passed.
    func announce(_ deadline: Timestamp) -> Bool {
        state.withLock { state in
            guard moment(&state) < deadline else { return false }
            state.deadlines.insert((), at: deadline)
            arm(&state)
            return true
        }
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
            return due(&state)
        }
        sleepers.advance(to: now)
    }

    // MARK: - Ticking

    private func wake() {
        let now = state.withLock { state in
            let now = due(&state)
            arm(&state)
            return now
        }
        sleepers.advance(to: now)
    }

    /// The time, with whose deadlines it is done: whoever has not fallen asleep yet will find that theirs has passed.
    private func due(_ state: inout State) -> Timestamp {
        let now = moment(&state)
        while state.deadlines.popFirst(dueBy: now) != nil {}
        return now
    }

    private func arm(_ state: inout State) {
        guard state.holders == 0, let first = state.deadlines.first?.moment, state.armed.map({ first < $0 }) ?? true else { return }
        state.alarm?.cancel()
        state.armed = first
        let ring = first + (.zero - state.lead)
        state.alarm = Task { [system, weak self] in
            guard (try? await system.sleep(until: ring)) != nil else { return }
            self?.ring(first)
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
