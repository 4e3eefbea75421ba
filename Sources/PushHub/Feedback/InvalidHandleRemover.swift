import PushModel

/// Removes the registrations of handles that push services report as invalid.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct InvalidHandleRemover {
    let directory: RegistrationDirectory

    private var context: HubContext { directory.context }

    /// Removes registrations within a notification's limit, and holds the other removals. If a removal cannot be stored, the registrations
    /// stay.
    ///
    /// - Parameter outcome: gets a notice of the notification's first held removals.
    func remove(
        _ invalid: [InvalidHandle], _ brake: inout RemovalBrake, _ outcome: inout NotificationOutcome
    ) async -> RemovalResult {
        let found = rows(of: invalid)
        // Nothing is registered for these handles.
        guard !found.isEmpty else { return RemovalResult() }
        var attempted = found
        let keys = await acquireLocks(of: found)
        defer { directory.release(keys) }
        do throws(PushError) {
            guard brake.isLimited || !directory.heldRows.isEmpty else { return try await withdraw(found) }
            let rows = Dictionary(grouping: try await removable(found), by: \.invalid.handle)
            let heldBefore = brake.held
            var (now, later) = ([InvalidHandleRow](), [InvalidHandleRow]())
            for handle in invalid {
                guard let rows = rows[handle.handle] else { continue }
                // A removal that is held already stays held until the operator decides, even if other notifications report it again.
                let isHeld = rows.contains { directory.heldRows.contains($0.row) }
                if !isHeld, brake.admitsRemoval() { now += rows } else { later += rows }
            }
            if !later.isEmpty { await HeldRemovals(directory: directory).hold(later, isFirst: heldBefore == 0 && brake.held > 0, &outcome) }
            attempted = now
            return try await withdraw(now)
        } catch {
            for handle in Set(attempted.map(\.invalid.handle)).sorted(by: { $0.text < $1.text }) { noteRefusal(handle, error) }
            return RemovalResult()
        }
    }

    /// Removes registrations with invalid handles, and the channels of installations, in one change.
    func remove(_ invalid: [InvalidHandle]) async throws(PushError) -> RemovalResult {
        let found = rows(of: invalid)
        guard !found.isEmpty else { return RemovalResult() }
        let keys = await acquireLocks(of: found)
        defer { directory.release(keys) }
        return try await withdraw(found)
    }

    /// The handles whose registrations a removal would delete.
    func removableHandles(_ invalid: [InvalidHandle]) async throws(PushError) -> Set<DeviceHandle> {
        Set(try await removable(rows(of: invalid)).map(\.invalid.handle))
    }

    private func rows(of invalid: [InvalidHandle]) -> [InvalidHandleRow] {
        invalid.flatMap { handle in
            directory.table.rows(for: handle.handle).map { InvalidHandleRow(row: $0, id: directory.table.id(at: $0), invalid: handle) }
        }
    }

    /// The caller must release the locks.
    private func acquireLocks(of found: [InvalidHandleRow]) async -> [RegistrationKey] {
        await directory.acquire(Set(found.map { RegistrationKey(ofRow: $0.row, in: directory.table) }))
    }

    /// The registrations that still exist and were not updated after their handles became invalid.
    private func removable(_ found: [InvalidHandleRow]) async throws(PushError) -> [InvalidHandleRow] {
        let current = found.filter { directory.table.row(of: $0.id) == $0.row }
        let rows = try await directory.rows(stillAt: current.map(\.row))
        let registrations = Dictionary(uniqueKeysWithValues: rows.map { ($0.row, $0.registration) })
        return current.filter { $0.isRemovable(registrations[$0.row]) }
    }

    /// Removes registrations whose locks the caller holds.
    private func withdraw(_ found: [InvalidHandleRow]) async throws(PushError) -> RemovalResult {
        guard !found.isEmpty else { return RemovalResult() }
        var (change, rows, cleared, notes) = try await withdrawal(of: found)
        guard !change.isEmpty else { return RemovalResult() }
        change.events = context.events.invalidHandleEvents(of: change.pruned)
        try await directory.commit(change, replacing: rows)
        for text in notes { context.environment.note(.feedback, text) }
        return RemovalResult(removed: Set(change.removals.map(\.id)), cleared: cleared)
    }

    private func noteRefusal(_ handle: DeviceHandle, _ error: PushError) {
        context.environment.note(.feedback, "\(handle.abbreviated) is invalid but could not be removed: \(error.message)")
    }

    private typealias Withdrawal = (change: RegistrationChange, rows: ReplacedRows, cleared: Set<DeviceHandle>, notes: [String])

    /// Builds the change that removes registrations with invalid handles, and the rows that it replaces. The caller holds the locks.
    private func withdrawal(of found: [InvalidHandleRow]) async throws(PushError) -> Withdrawal {
        // The rows may have changed while this call waited for the locks.
        let current = found.filter { directory.table.row(of: $0.id) == $0.row }
        var registrations = try await directory.rows(at: current.map(\.row))
        let registrationOfRow = Dictionary(uniqueKeysWithValues: registrations.map { ($0.row, $0.registration) })
        var withdrawal: Withdrawal = (RegistrationChange(), ReplacedRows(), [], [])
        var installations: [String: (row: InstallationRow, invalid: Set<DeviceHandle>, tombstone: RegistrationTombstone)] = [:]
        for found in current {
            let (id, handle, reason) = (found.id, found.invalid.handle, found.invalid.reason)
            let notification = found.invalid.notificationID
            guard let now = registrationOfRow[found.row], found.isRemovable(now) else { continue }
            let tombstone = directory.tombstone(
                .invalidHandle(InvalidHandleReport(handle.platform, reason: reason)))
            if let installation = now.installationID {
                if installations[installation] == nil {
                    guard let row = try await directory.installationRow(installation) else { continue }
                    installations[installation] = (row, [], tombstone)
                }
                if installations[installation]?.invalid.insert(handle).inserted == true {
                    let row = installations[installation]?.row.installation
                    withdrawal.change.pruned.append(
                        PrunedDevice(
                            .installation(id: installation, userID: row?.userID, tags: row?.tags ?? []), handle: handle, reason: reason,
                            notificationID: notification, time: tombstone.time))
                    withdrawal.notes.append("installation \(installation): channel expired, \(reason)")
                }
            } else if let removal = directory.table.removal(of: id, because: tombstone) {
                withdrawal.change.removals.append(removal)
                withdrawal.change.pruned.append(
                    PrunedDevice(
                        .registration(now), handle: handle, reason: reason, notificationID: notification, time: tombstone.time))
                withdrawal.notes.append("registration \(id) removed: \(reason)")
            }
            withdrawal.cleared.insert(handle)
        }
        for (id, entry) in installations.sorted(by: { $0.key < $1.key }) {
            let existing = try await directory.rows(at: directory.table.rows(ofInstallation: id))
            let installation = entry.invalid.reduce(entry.row.installation) { $0.expiring($1) }
            let part = directory.table.change(
                installation, as: existing.map(\.registration).filter { !entry.invalid.contains($0.handle) },
                expiration: entry.row.expiration, tombstone: entry.tombstone)
            withdrawal.change.removals += part.removals
            withdrawal.change.puts += part.puts
            withdrawal.change.installationPuts += part.installationPuts
            registrations += existing
        }
        withdrawal.rows = ReplacedRows(registrations, installations.values.map(\.row))
        return withdrawal
    }
}
