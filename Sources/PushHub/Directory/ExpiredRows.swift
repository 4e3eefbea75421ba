import PushModel

/// Expired rows that the store has not deleted yet. Not thread-safe: it is part of the state of the actor that owns it.
struct ExpiredRows: Sendable {
    private var removals: [RemovedRegistration] = []
    private var installations: [UInt32] = []

    var isEmpty: Bool { removals.isEmpty && installations.isEmpty }

    mutating func append(_ change: RegistrationChange) {
        removals += change.removals
        installations += change.installationRemovals
    }

    /// Removes and returns the first `count` registrations and installations.
    mutating func next(_ count: Int) -> RegistrationChange {
        let change = RegistrationChange(
            removals: Array(removals.prefix(count)), installationRemovals: Array(installations.prefix(count)))
        removals.removeFirst(change.removals.count)
        installations.removeFirst(change.installationRemovals.count)
        return change
    }
}
