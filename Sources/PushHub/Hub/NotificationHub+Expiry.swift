import PushModel

/// Expired rows that the store has not deleted yet. Not thread-safe: it is part of the state of the actor that owns it.
struct Expiry: Sendable {
    var removals: [RemovedRegistration] = []
    var installations: [UInt32] = []
    /// Deletes the rows from the store.
    var task: Task<Void, Never>?

    var isEmpty: Bool { removals.isEmpty && installations.isEmpty }

    /// Removes and returns the first `count` registrations and installations.
    mutating func next(_ count: Int) -> RegistrationChange {
        let change = RegistrationChange(
            removals: Array(removals.prefix(count)), installationRemovals: Array(installations.prefix(count)))
        removals.removeFirst(change.removals.count)
        installations.removeFirst(change.installationRemovals.count)
        return change
    }
}

extension NotificationHub {
    /// Maximum number of registrations, and of installations, that are deleted in one transaction.
    private static let expiryStep = 500

    /// Hides expired registrations and installations at once, and deletes them from the store in the background. Skips those that a change
    /// has locked, except `turn`.
    func sweep(holding turn: RegistrationTable.Expiring? = nil) {
        let change = table.withdrawExpired(now: environment.clock.now) { turns.isTaken($0) && $0 != turn }
        guard !change.isEmpty else { return }
        let count = change.removals.count
        if count > 0 { environment.note(.hub, "\(count) registration\(count == 1 ? "" : "s") expired") }
        forget(change)
    }

    /// Deletes hidden rows from the store in the background. Their rows are not reused before that.
    func forget(_ expired: RegistrationChange) {
        expiry.removals += expired.removals
        expiry.installations += expired.installationRemovals
        guard expiry.task == nil, !expiry.isEmpty, !isStopping else { return }
        expiry.task = environment.start { [weak self] in await self?.forgetExpired() }
    }

    /// Retries until the hub stops. After a restart, the remaining rows are found expired when they are loaded.
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
                    environment.note(.hub, "expired registrations are not deleted from the store yet: \(error.message)")
                    if isStopping { break }
                    await rest(&pause)
                }
            }
            if isStopping { break }
        }
        expiry.task = nil
    }

    /// The expired rows with their tags, which the index still contains.
    private func expiredRows(_ change: RegistrationChange) async throws(PushError) -> ReplacedRows {
        do throws(PushError) {
            let registrations = try await storedRegistrations(at: change.removals.map(\.place))
            return ReplacedRows(registrations, try await storedInstallations(at: change.installationRemovals))
        } catch {
            guard !error.isRetryable else { throw error }
            // A corrupt row stays corrupt, so these rows are not reused before the next start.
            environment.note(.hub, "rows of expired registrations are not reused before a restart: \(error.message)")
            return ReplacedRows()
        }
    }

    /// Removes expired rows from the index, before tags are counted. Rows that cannot be read now stay in the counts for a while.
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
            environment.note(.hub, "the tags of expired registrations are still counted: \(error.message)")
        }
    }
}
