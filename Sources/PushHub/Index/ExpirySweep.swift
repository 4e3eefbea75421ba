import PushModel

/// Withdraws expired registrations and installations from use.
enum ExpirySweep {
    /// Withdraws everything that expired by `now` from use at once. The caller must store and apply the returned change.
    ///
    /// - Parameter isBusy: whether a change of this registration or installation is in progress; if so, it is retried later.
    static func withdraw(
        from table: inout RegistrationTable, now: Timestamp, isBusy: (RegistrationKey) -> Bool
    ) -> RegistrationChange {
        var change = RegistrationChange()
        let tombstone = RegistrationTombstone(.expired, at: now)
        var busy: [UInt32] = []
        while let row = table.expiries.popFirst(dueBy: now) {
            let id = table.id(at: row)
            guard !isBusy(.registration(id)) else {
                busy.append(row)
                continue
            }
            change.removals.append(RemovedRegistration(row: row, id: id, tombstone: tombstone))
            table.withdrawAll(change.removals.suffix(1))
        }
        for row in busy { table.expiries.set(now, at: row) }
        busy = []
        while let row = table.installations.expiries.popFirst(dueBy: now) {
            let id = table.installations.id(at: row)
            guard !isBusy(RegistrationKey(installation: id)), let removal = table.removal(ofInstallation: id, because: tombstone) else {
                busy.append(row)
                continue
            }
            table.withdrawAll(removal.removals[...])
            table.installations.withdraw(row)
            change.removals += removal.removals
            change.installationRemovals += removal.installationRemovals
        }
        for row in busy { table.installations.expiries.set(now, at: row) }
        return change
    }
}
