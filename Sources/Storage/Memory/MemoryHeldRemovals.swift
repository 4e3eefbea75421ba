import PushModel

/// The held removals of a hub, by handle.
struct MemoryHeldRemovals {
    private var removals: [DeviceHandle: HeldRemoval] = [:]
    private var last: Int64 = 0

    /// Removals with numbers below `number`, or from the newest if nil; newest first.
    func removals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) -> [HeldRemoval] {
        let newestFirst = removals.values.sorted { $0.number > $1.number }
        return Array(newestFirst.lazy.filter { $0.number < number ?? .max && filter.matches($0) }.prefix(limit))
    }

    mutating func hold(_ removal: HeldRemoval) {
        if let known = removals[removal.handle] {
            removals[removal.handle]?.validBefore = max(known.validBefore, removal.validBefore)
            return
        }
        last += 1
        removals[removal.handle] = removal
        removals[removal.handle]?.number = last
    }

    mutating func drop(_ dropped: [HeldRemoval]) -> Set<Int64> {
        var numbers: Set<Int64> = []
        for removal in dropped {
            guard let known = removals[removal.handle], known.number == removal.number, known.validBefore == removal.validBefore
            else { continue }
            removals[removal.handle] = nil
            numbers.insert(removal.number)
        }
        return numbers
    }

    mutating func commit(_ change: RegistrationChange) {
        for handle in change.resolvedRemovals { removals[handle] = nil }
    }
}
