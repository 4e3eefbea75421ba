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
            var change = expiry.next(Self.expiryStep)
            _ = settleHeldRemovals(in: &change)
            var (isKept, pause) = (false, Self.firstPause)
            while !isKept {
                do throws(PushError) {
                    let rows = try await expiredRows(change)
                    try await store.commit(change)
                    table.apply(change, replacing: rows)
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

    /// What expired with its tags, which the index has still.
    private func expiredRows(_ change: RegistrationChange) async throws(PushError) -> ReplacedRows {
        do throws(PushError) {
            let registrations = try await storedRegistrations(at: change.removals.map(\.place))
            return ReplacedRows(registrations, try await storedInstallations(at: change.installationRemovals))
        } catch {
            guard !error.isRetryable else { throw error }
            // A row that is broken stays so: nobody gets these places before the next start.
            environment.note(.hub, "places of expired registrations are not used again: \(error.message)")
            return ReplacedRows()
        }
    }

    /// Has the index forget what is off the air already, where its tags are counted. What cannot be read now is counted a while
    /// longer.
    func unindexExpired() async {
        do throws(PushError) {
            while !table.indexed.isEmpty || !table.installations.indexed.isEmpty {
                let registrations = try await rows(stillAt: Array(table.indexed.sorted().prefix(Self.expiryStep)))
                let installations = try await installationRows(stillAt: Array(table.installations.indexed.sorted().prefix(Self.expiryStep)))
                guard !registrations.isEmpty || !installations.isEmpty else { return }
                table.unindex(
                    ReplacedRows(
                        registrations.filter { table.id(at: $0.place) == $0.registration.id },
                        installations.filter { table.installations.id(at: $0.place) == $0.installation.id }))
            }
        } catch {
            environment.note(.hub, "the tags of what expired are counted still: \(error.message)")
        }
    }
}
