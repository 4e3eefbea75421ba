import PushModel

extension RegistrationTable {
    /// What expires, and what a change locks.
    enum Expiring: Sendable, Hashable {
        case registration(RegistrationID)
        case installation(String)
    }

    mutating func expire(_ row: UInt32, at time: Timestamp) {
        expiries.set(time, at: row)
        if expiries.isStale { expiries.renew(end: max(end, row + 1)) }
    }

    /// Withdraws everything that expired by `now` from use at once. The caller must store and apply the returned change.
    ///
    /// - Parameter isBusy: whether a change of this registration or installation is in progress; if so, it is retried later.
    mutating func withdrawExpired(now: Timestamp, isBusy: (Expiring) -> Bool) -> RegistrationChange {
        var change = RegistrationChange()
        let tombstone = RegistrationTombstone(.expired, at: now)
        var busy: [UInt32] = []
        while let row = expiries.popFirst(dueBy: now) {
            let id = id(at: row)
            guard !isBusy(.registration(id)) else {
                busy.append(row)
                continue
            }
            change.removals.append(RemovedRegistration(row: row, id: id, tombstone: tombstone))
            withdrawAll(change.removals.suffix(1))
        }
        for row in busy { expiries.set(now, at: row) }
        busy = []
        while let row = installations.expiries.popFirst(dueBy: now) {
            let id = installations.id(at: row)
            guard !isBusy(.installation(id)), let removal = removal(ofInstallation: id, because: tombstone) else {
                busy.append(row)
                continue
            }
            withdrawAll(removal.removals[...])
            installations.withdraw(row)
            change.removals += removal.removals
            change.installationRemovals += removal.installationRemovals
        }
        for row in busy { installations.expiries.set(now, at: row) }
        return change
    }

    /// The key that serializes changes of a registration: its installation if it has one.
    func lockKey(at row: UInt32) -> Expiring {
        installationID(at: row).map { .installation($0) } ?? .registration(id(at: row))
    }
}

extension RegistrationTable.Expiring: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.registration(let left), .registration(let right)): left.text < right.text
        case (.installation(let left), .installation(let right)): left < right
        case (.registration, .installation): true
        case (.installation, .registration): false
        }
    }
}
