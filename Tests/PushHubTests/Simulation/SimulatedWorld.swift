import PushModel
import Support
import Synchronization

/// The current faults of push services and disk, and all random choices, from one seed.
final class SimulatedWorld: Sendable {
    enum Condition: CaseIterable, Sendable {
        case fair, mixed, failing, throttling, unreachable, silent, refusing
    }

    private struct State {
        var conditions: [Platform: Condition] = [:]
        /// Percentage of disk operations that fail.
        var diskFaults: UInt64 = 0
    }

    let clock: VirtualClock
    let history = EventHistory()
    private let random: SeededRandom
    private let state = Mutex(State())

    init(seed: UInt64, clock: VirtualClock) {
        random = .derived(from: seed, for: "world")
        self.clock = clock
    }

    // MARK: - Random choices

    func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }

    func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.count)) }

    func pick<Value>(_ values: [Value]) -> Value { values[number(0...values.count - 1)] }

    // MARK: - Faults

    func turn(_ platform: Platform) { state.withLock { $0.conditions[platform] = pick(Condition.allCases) } }

    func turnDisk() { state.withLock { $0.diskFaults = pick([0, 0, 5, 30, 100]) } }

    /// Ends all faults.
    func heal() { state.withLock { $0 = State() } }

    func diskFails() -> Bool {
        let faults = state.withLock { $0.diskFaults }
        return faults > 0 && chance(faults)
    }

    func verdict(on platform: Platform) -> Verdict {
        switch state.withLock({ $0.conditions[platform] ?? .fair }) {
        case .fair: chance(94) ? .accepted(id: nil) : .rejected(chance(30) ? .invalidHandle() : Self.bad)
        case .mixed:
            pick([
                .accepted(id: nil), .accepted(id: nil), .rejected(Self.bad), .transient(.busy, retryAfter: nil),
                .unknown(reason: "broken off"),
                .transient(.tooMany, retryAfter: chance(20) ? .seconds(number(1...2400)) : nil),
            ])
        case .failing: .transient(.busy, retryAfter: chance(10) ? .seconds(number(1...600)) : nil)
        case .throttling: .transient(.tooMany, retryAfter: nil)
        case .unreachable: .transient(Self.unreachable, retryAfter: nil)
        case .silent: .unknown(reason: "broken off")
        case .refusing: .rejected(Self.refused)
        }
    }

    private static let bad = Rejection(status: 400, reason: "PayloadEmpty", explanation: "there is nothing in it", outcome: .badChannel)
    private static let unreachable = Rejection(status: 0, reason: "refused", explanation: "nobody answers", outcome: .pnsUnreachable)
    private static let refused = Rejection(
        status: 403, reason: "InvalidProviderToken", explanation: "the key is not known", outcome: .invalidCredentials)
}

extension Verdict {
    var isAcceptance: Bool { if case .accepted = self { true } else { false } }
    var isInvalidHandle: Bool { if case .rejected(let rejection) = self { rejection.isHandleInvalid } else { false } }
}
