/// What has expired and is still in the store. Part of an actor's state.
struct Expiry: Sendable {
    var removals: [RemovedRegistration] = []
    var installations: [UInt32] = []
    /// Has the store forget it.
    var task: Task<Void, Never>?

    var isEmpty: Bool { removals.isEmpty && installations.isEmpty }

    /// The first of it, so many at most.
    mutating func next(_ count: Int) -> RegistrationChange {
        let change = RegistrationChange(
            removals: Array(removals.prefix(count)), installationRemovals: Array(installations.prefix(count)))
        removals.removeFirst(change.removals.count)
        installations.removeFirst(change.installationRemovals.count)
        return change
    }
}

extension NotificationHub {
    /// Most registrations, and most installations, that expire in one transaction.
    private static let expiryStep = 500

    /// Takes what has expired off the air; the store learns it in the background. What others are changing just now is left to
    /// them.
    func sweep(holding turn: RegistrationTable.Expiring? = nil) {
        let change = table.withdrawExpired(now: environment.clock.now) { turns.isTaken($0) && $0 != turn }
        guard !change.isEmpty else { return }
        let count = change.removals.count
        if count > 0 { environment.note(.hub, "\(count) registration\(count == 1 ? "" : "s") expired") }
        forget(change)
    }

    /// Has the store forget what is off the air already. Until it has, the places stay taken.
    func forget(_ expired: RegistrationChange) {
        expiry.removals += expired.removals
        expiry.installations += expired.installationRemovals
        guard expiry.task == nil, !expiry.isEmpty, !isStopping else { return }
        expiry.task = environment.start { [weak self] in await self?.forgetExpired() }
    }

    /// Where the store cannot learn it now, it is told again; after a stop it is found expired when it is loaded.
    private func forgetExpired() async {
        while !expiry.isEmpty {
            let change = expiry.next(Self.expiryStep)
            var (isKept, pause) = (false, Self.firstPause)
            while !isKept {
                do throws(PushError) {
                    try await store.commit(change)
                    table.apply(change)
                    isKept = true
                } catch {
                    environment.note(.hub, "expired registrations are still on disk: \(error.message)")
                    if isStopping { break }
                    await rest(&pause)
                }
            }
            if isStopping { break }
        }
        expiry.task = nil
    }
}
