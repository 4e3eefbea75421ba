import PushModel

/// The registrations and installations of a hub: the table, the locks of its changes, and access to the stored rows.
///
/// A change becomes visible only after the store has committed it. Changes of the same registration or installation run one at a time;
/// changes of different ones run concurrently. Not thread-safe: it is part of the state of the actor that owns it.
final class RegistrationDirectory {
    let context: HubContext
    let environment: HubEnvironment
    let store: any HubStore
    let stored: StoredRows
    /// Runs the directory's work in the background.
    weak var owner: (any DirectoryOwner)?
    var table: RegistrationTable
    private var locks = KeyedLock<RegistrationKey>()
    private var expired = ExpiredRows()
    /// Deletes the expired rows from the store.
    private var deletion: Task<Void, Never>?
    /// Rows of the registrations whose removal is held for the operator.
    private(set) var heldRows = RowSet()

    /// - Parameter loaded: the loaded content of the store. Warns of what is not used.
    init(_ context: HubContext, _ loaded: HubLoader) {
        (self.context, environment, store) = (context, context.environment, context.store)
        (table, stored) = (loaded.table, StoredRows(store: context.store, foreignTags: loaded.foreignTags))
        for row in loaded.unreadable {
            context.environment.warn(.hub, "skipped an unreadable row: \(row.reason)")
            context.metrics.leftOut()
        }
        if loaded.rowsWithForeignTags > 0 {
            context.environment.warn(
                .hub,
                "hub \"\(context.name)\": \(loaded.rowsWithForeignTags) stored registrations or installations have tags that start with $, "
                    + "accepted from clients by an older version; these tags are ignored, and removed when the device registers again")
        }
        warnOfConflicts()
    }

    /// Warns of installations that an older version stored although their ids differ only in case.
    private func warnOfConflicts() {
        let ids = table.installations.conflicting.map { table.installations.id(at: $0) }.sorted()
        guard !ids.isEmpty else { return }
        let shown = ids.prefix(Self.conflictsShown).map { "\"\($0)\"" }.joined(separator: ", ")
        environment.warn(
            .hub,
            "hub \"\(context.name)\": the id of \(ids.count) installation\(ids.count == 1 ? " differs" : "s differ") "
                + "from that of an earlier one in case only: \(shown)\(ids.count > Self.conflictsShown ? ", …" : ""); "
                + "sends to $InstallationId:{…} reach only the earlier one; delete the one that is not in use")
    }

    /// Number of installations that a warning names.
    private static let conflictsShown = 20

    // MARK: - Locks

    /// Acquires the lock of a registration or installation. Every acquire must be paired with a release.
    func acquire(_ key: RegistrationKey) async {
        guard !locks.acquire(key) else { return }
        await withCheckedContinuation { locks.wait(key, $0) }
    }

    func release(_ key: RegistrationKey) { locks.release(key) }

    /// Acquires the locks of several registrations or installations, in a fixed order, which prevents deadlocks. The caller must release
    /// them.
    func acquire(_ keys: Set<RegistrationKey>) async -> [RegistrationKey] {
        let keys = keys.sorted()
        for key in keys { await acquire(key) }
        return keys
    }

    func release(_ keys: [RegistrationKey]) { for key in keys { release(key) } }

    // MARK: - Changes

    /// Commits a change to the store, then applies it to the table. If the commit fails, nothing changes.
    ///
    /// - Parameter rows: the current rows that the change replaces.
    func commit(_ change: RegistrationChange, replacing rows: ReplacedRows) async throws(PushError) {
        var change = change
        let completed = resolveHeldRemovals(in: &change)
        do throws(PushError) {
            try await store.commit(change)
        } catch {
            heldRows.insert(contentsOf: completed)
            table.abandon(change)
            throw error
        }
        warnOfTexts(in: change)
        table.apply(change, replacing: rows)
        if !change.events.isEmpty { environment.events.notify() }
    }

    /// Warns of new templates that contain an expression that is sent as literal text.
    private func warnOfTexts(in change: RegistrationChange) {
        let new = change.puts.compactMap(\.registration.template).filter { !table.templates.hasContent(of: $0) }
        guard !new.isEmpty else { return }
        for warning in new.flatMap(\.embeddedExpressions).map(\.warning).uniqued() {
            environment.warn(.hub, "hub \"\(context.name)\": \(warning)")
        }
    }

    func tombstone(_ reason: RegistrationTombstone.Reason) -> RegistrationTombstone {
        RegistrationTombstone(reason, at: context.now)
    }

    /// Capped at `.distantFuture`: later years have five digits.
    func expiration() -> Timestamp {
        context.settings.registrationTTL.map { min(context.now + $0, .distantFuture) } ?? .distantFuture
    }

    func newRegistrationID() -> RegistrationID {
        var id = RegistrationID(random: environment.random)
        while table.row(of: id) != nil || table.tombstone(of: id) != nil { id = RegistrationID(random: environment.random) }
        return id
    }

    /// Calls the `onRegister` hooks with a validated registration or installation, whose lock the caller holds. The caller must validate
    /// the returned tags again. Throws errors of hooks.
    func applyHooks(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft {
        let answer = try await environment.hooks.onRegister(draft)
        try context.lifecycle.checkIsOpen()
        return answer
    }

    /// Starts the work that hooks requested for after the registration or installation is stored, one step after the other.
    func registered(_ draft: RegistrationDraft?) {
        guard let work = draft?.onceKept, !work.isEmpty else { return }
        _ = environment.start { for step in work { await step() } }
    }

    // MARK: - Held removals

    /// Records that the removal of these registrations is held.
    func hold(_ rows: [UInt32]) { heldRows.insert(contentsOf: rows) }

    /// Records that the removal of a registration is no longer held.
    func unhold(_ row: UInt32) { heldRows.remove(row) }

    /// Adds to a change the held removals that it settles: those of handles without any other held row.
    ///
    /// - Returns: the rows whose removal is no longer held.
    private func resolveHeldRemovals(in change: inout RegistrationChange) -> [UInt32] {
        guard !heldRows.isEmpty else { return [] }
        let rows = Set(change.removals.map(\.row) + change.puts.map(\.row)).filter { heldRows.contains($0) }.sorted()
        for row in rows { heldRows.remove(row) }
        change.resolvedRemovals += rows.map { table.columns.handle(at: $0) }.uniqued().filter { handle in
            !table.rows(for: handle).contains { heldRows.contains($0) }
        }
        return rows
    }

    // MARK: - Expiry

    /// Maximum number of registrations, and of installations, that are deleted in one transaction.
    private static let expiryStep = 500

    /// Hides expired registrations and installations at once, and deletes them from the store in the background. Skips those that a change
    /// has locked, except `lockKey`.
    func sweep(holding lockKey: RegistrationKey? = nil) {
        let change = ExpirySweep.withdraw(from: &table, now: context.now) { locks.isHeld($0) && $0 != lockKey }
        guard !change.isEmpty else { return }
        let count = change.removals.count
        if count > 0 { environment.note(.hub, "\(count) registration\(count == 1 ? "" : "s") expired") }
        forget(change)
    }

    /// Deletes hidden rows from the store in the background. Their rows are not reused before that.
    func forget(_ change: RegistrationChange) {
        expired.append(change)
        guard deletion == nil, !expired.isEmpty, !context.isStopping else { return }
        deletion = environment.start { [weak owner] in await owner?.deleteExpired() }
    }

    /// Ends the deletion of expired rows. The next process finds the remaining ones when it loads them.
    func cancelDeletion() { deletion?.cancel() }

    /// Waits until the deletion of expired rows has ended.
    func awaitDeletion() async { await deletion?.value }

    /// Retries until the hub stops. After a restart, the remaining rows are found expired when they are loaded.
    func deleteExpired() async {
        while !expired.isEmpty {
            var change = expired.next(Self.expiryStep)
            _ = resolveHeldRemovals(in: &change)
            var (isStored, pause) = (false, HubContext.firstPause)
            while !isStored {
                do throws(PushError) {
                    let rows = try await expiredRows(change)
                    try await store.commit(change)
                    table.apply(change, replacing: rows)
                    isStored = true
                } catch {
                    environment.note(.hub, "expired registrations are not deleted from the store yet: \(error.message)")
                    if context.isStopping { break }
                    await context.backOff(&pause)
                }
            }
            if context.isStopping { break }
        }
        deletion = nil
    }

    /// The expired rows with their tags, which the index still contains.
    private func expiredRows(_ change: RegistrationChange) async throws(PushError) -> ReplacedRows {
        do throws(PushError) {
            let registrations = try await stored.registrations(at: change.removals.map(\.row))
            return ReplacedRows(registrations, try await stored.installations(at: change.installationRemovals))
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
                        registrations.filter { table.id(at: $0.row) == $0.registration.id },
                        installations.filter { table.installations.id(at: $0.row) == $0.installation.id }))
            }
        } catch {
            environment.note(.hub, "the tags of expired registrations are still counted: \(error.message)")
        }
    }

    // MARK: - Rows

    /// The id of another installation with the tag `$InstallationId:{…}` that this id gives, because the two differ only in case. The
    /// caller holds the lock, which both ids share.
    func otherOwner(ofTagOf id: String) -> String? {
        guard let tag = try? Tag.installation(id) else { return nil }
        if let other = table.installations.otherOwner(of: tag, besides: id) { return other }
        // Of an installation that cannot be read, only the registrations are known.
        for row in table.index.rows(of: tag).rows where table.columns.isLive(row) {
            guard let other = table.installationID(at: row), other != id, table.installations.row(of: other) == nil else { continue }
            return other
        }
        return nil
    }

    /// The stored registration with an id; nil if it does not exist.
    func row(_ id: RegistrationID) async throws(PushError) -> RegistrationRow? {
        guard let rowNumber = table.row(of: id) else { return nil }
        let row = try await stored.registrations(at: [rowNumber]).first { $0.registration.id == id }
        // It may have been removed while the store was read.
        if row == nil, table.row(of: id) == rowNumber { throw Self.missing("registration \(id)") }
        return row
    }

    /// All registrations in these rows. The caller holds their locks.
    func rows(at rowNumbers: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        guard !rowNumbers.isEmpty else { return [] }
        let ids = rowNumbers.map { table.id(at: $0) }
        let rows = try await stored.registrations(at: rowNumbers)
        guard rows.map(\.registration.id) == ids else { throw Self.missing("a registration in row \(rowNumbers[0]) or later") }
        return rows
    }

    /// The registrations in these rows that still exist.
    func rows(stillAt rowNumbers: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        guard !rowNumbers.isEmpty else { return [] }
        let ids = Dictionary(uniqueKeysWithValues: rowNumbers.map { ($0, table.id(at: $0)) })
        return try await stored.registrations(at: rowNumbers).filter { ids[$0.row] == $0.registration.id }
    }

    /// The stored installation with an id; nil if it does not exist.
    func installationRow(_ id: String) async throws(PushError) -> InstallationRow? {
        guard let rowNumber = table.installations.row(of: id) else { return nil }
        let row = try await stored.installations(at: [rowNumber]).first { $0.installation.id == id }
        if row == nil, table.installations.row(of: id) == rowNumber { throw Self.missing("installation \(id)") }
        return row
    }

    /// The installations in these rows that still exist.
    func installationRows(stillAt rowNumbers: [UInt32]) async throws(PushError) -> [InstallationRow] {
        guard !rowNumbers.isEmpty else { return [] }
        let ids = Dictionary(uniqueKeysWithValues: rowNumbers.map { ($0, table.installations.id(at: $0)) })
        return try await stored.installations(at: rowNumbers).filter { ids[$0.row] == $0.installation.id }
    }

    private static func missing(_ row: String) -> PushError {
        PushError(
            "storage.conflict", "\(row) is missing from the store",
            hint: "two servers may use the same storage: run only one of them, and restart it", status: 500)
    }
}
