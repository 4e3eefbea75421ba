import Synchronization

/// Injected faults of a service: rejects requests that it would have accepted.
///
/// Faults with a count are used up first, in order. Then come permanent faults: first those with a share, drawn for each request, then
/// those for a single handle, then those for all handles.
package final class FaultInjector<Reason: Sendable>: Sendable {
    struct Fault: Sendable {
        var reason: Reason
        /// Remaining number; `nil` for a permanent fault.
        var left: Int?
        /// The handle that it is limited to; `nil` for every handle.
        var handle: String?
        /// The owner who ordered it; `nil` if there is only one.
        var owner: String?
        /// The share of requests that it rejects, from 0 to 1.
        var share: Double = 1
        var retryAfter: Int?
    }

    /// The rejection of one request.
    struct Due {
        var reason: Reason
        /// Seconds for `Retry-After`, if it should be sent.
        var retryAfter: Int?
    }

    private let faults = Mutex<[Fault]>([])
    private let random: SimulatorRandom

    init(random: SimulatorRandom = SimulatorRandom { Array(repeating: 0, count: $0) }) {
        self.random = random
    }

    /// Adds a fault. A permanent fault without a share replaces its owner's for the same handle. A count or share of 0 adds nothing.
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

    /// Returns the fault for a request to `handle`, if any; `nil` for a request without a single handle.
    func next(for handle: String?) -> Due? {
        faults.withLock { faults in
            guard !faults.isEmpty else { return nil }
            let matching = faults.indices.filter { index in
                (faults[index].handle == nil || faults[index].handle == handle) && isDrawn(faults[index].share)
            }
            guard let index = matching.first(where: { faults[$0].left != nil }), let left = faults[index].left else {
                let active =
                    matching.first { faults[$0].share < 1 } ?? matching.first { faults[$0].handle != nil } ?? matching.first
                return active.map { Due(reason: faults[$0].reason, retryAfter: faults[$0].retryAfter) }
            }
            let due = Due(reason: faults[index].reason, retryAfter: faults[index].retryAfter)
            if left > 1 { faults[index].left = left - 1 } else { faults.remove(at: index) }
            return due
        }
    }

    private func isDrawn(_ share: Double) -> Bool {
        guard share < 1 else { return true }
        let drawn = random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Double(drawn) < share * 4_294_967_296
    }

    /// The active faults, in the order in which they were added.
    var active: [Fault] { faults.withLock { $0 } }

    func clear() { faults.withLock { $0 = [] } }

    func clear(of owner: String?) { faults.withLock { $0.removeAll { $0.owner == owner } } }
}
