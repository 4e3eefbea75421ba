import Synchronization

/// Refusals that a rehearsal ordered: what a service would have accepted is turned down with them.
///
/// Those with a count are used up first, in order; then come those that stand until they are cleared, one of a single
/// handle before one of all.
package final class FaultScript<Reason: Sendable>: Sendable {
    private struct Fault: Sendable {
        var reason: Reason
        /// Nil: stands until it is cleared.
        var left: Int?
        /// Nil: of every handle.
        var handle: String?
        /// Who ordered it; nil where there is but one.
        var owner: String?
    }

    private let faults = Mutex<[Fault]>([])

    init() {}

    /// A standing refusal takes the place of its owner's for the same handle; a count of 0 orders nothing.
    func add(_ reason: Reason, count: Int?, handle: String?, owner: String? = nil) {
        if let count, count <= 0 { return }
        faults.withLock { faults in
            if count == nil { faults.removeAll { $0.left == nil && $0.handle == handle && $0.owner == owner } }
            faults.append(Fault(reason: reason, left: count, handle: handle, owner: owner))
        }
    }

    /// The refusal that is due for a notification to `handle` (nil: to no single one), if any.
    func next(for handle: String?) -> Reason? {
        faults.withLock { faults in
            let matching = faults.indices.filter { faults[$0].handle == nil || faults[$0].handle == handle }
            guard let place = matching.first(where: { faults[$0].left != nil }), let left = faults[place].left else {
                let standing = matching.first { faults[$0].handle != nil } ?? matching.first
                return standing.map { faults[$0].reason }
            }
            defer { if left > 1 { faults[place].left = left - 1 } else { faults.remove(at: place) } }
            return faults[place].reason
        }
    }

    func clear() { faults.withLock { $0 = [] } }

    func clear(of owner: String?) { faults.withLock { $0.removeAll { $0.owner == owner } } }
}
