/// Refusals that a rehearsal asked for, in order.
struct FaultScript<Fault: Sendable>: Sendable {
    private var faults: [(fault: Fault, left: Int)] = []

    mutating func add(_ fault: Fault, count: Int) {
        if count > 0 { faults.append((fault, count)) }
    }

    /// The refusal that is due now, if any.
    mutating func next() -> Fault? {
        guard let first = faults.first else { return nil }
        if first.left > 1 { faults[0].left -= 1 } else { faults.removeFirst() }
        return first.fault
    }
}
