import Synchronization

/// Refusals that a rehearsal ordered: what a service would have accepted is turned down with them.
///
/// Those with a count are used up first, in order; then come those that stand until they are cleared, one of a single
/// handle before one of all. One for a share of the notifications is drawn for each of them, before any other that stands.
package final class FaultScript<Reason: Sendable>: Sendable {
    struct Fault: Sendable {
        var reason: Reason
        /// Nil: stands until it is cleared.
        var left: Int?
        /// Nil: of every handle.
        var handle: String?
        /// Who ordered it; nil where there is but one.
        var owner: String?
        /// Of the notifications that it turns down, from 0 to 1.
        var share: Double = 1
        var retryAfter: Int?
    }

    /// What a notification is refused with.
    struct Due {
        var reason: Reason
        /// Seconds, where the answer is to name them.
        var retryAfter: Int?
    }

    private let faults = Mutex<[Fault]>([])
    private let random: SimulatorRandom

    init(random: SimulatorRandom = SimulatorRandom { Array(repeating: 0, count: $0) }) {
        self.random = random
    }

    /// A standing refusal takes the place of its owner's for the same handle, unless it is for a share; a count of 0, and a
    /// share of nothing, order nothing.
    func add(
        _ reason: Reason, count: Int?, handle: String?, owner: String? = nil, share: Double = 1, retryAfter: Int? = nil
    ) {
        if let count, count <= 0 { return }
        guard share > 0 else { return }
        faults.withLock { faults in
            if count == nil, share >= 1 {
                faults.removeAll { $0.left == nil && $0.handle == handle && $0.owner == owner && $0.share >= 1 }
            }
            faults.append(
                Fault(reason: reason, left: count, handle: handle, owner: owner, share: share, retryAfter: retryAfter))
        }
    }

    /// The refusal that is due for a notification to `handle` (nil: to no single one), if any.
    func next(for handle: String?) -> Due? {
        faults.withLock { faults in
            guard !faults.isEmpty else { return nil }
            let matching = faults.indices.filter { place in
                (faults[place].handle == nil || faults[place].handle == handle) && isDrawn(faults[place].share)
            }
            guard let place = matching.first(where: { faults[$0].left != nil }), let left = faults[place].left else {
                let standing =
                    matching.first { faults[$0].share < 1 } ?? matching.first { faults[$0].handle != nil } ?? matching.first
                return standing.map { Due(reason: faults[$0].reason, retryAfter: faults[$0].retryAfter) }
            }
            let due = Due(reason: faults[place].reason, retryAfter: faults[place].retryAfter)
            if left > 1 { faults[place].left = left - 1 } else { faults.remove(at: place) }
            return due
        }
    }

    private func isDrawn(_ share: Double) -> Bool {
        guard share < 1 else { return true }
        let drawn = random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(drawn) < share * 4_294_967_296
    }

    /// What is ordered and not used up, in the order in which it was ordered.
    var standing: [Fault] { faults.withLock { $0 } }

    func clear() { faults.withLock { $0 = [] } }

    func clear(of owner: String?) { faults.withLock { $0.removeAll { $0.owner == owner } } }
}
