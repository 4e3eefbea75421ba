import PushModel

extension RegistrationTable {
    /// What expires, and what a change locks.
    enum Expiring: Sendable, Hashable {
        case registration(RegistrationID)
        case installation(String)
    }

    mutating func expire(_ place: UInt32, at moment: Timestamp) {
        expiries.set(moment, at: place)
        if expiries.isStale { expiries.renew(end: max(end, place + 1)) }
    }

    /// Withdraws everything that expired by `now` from use at once. The caller must store and apply the returned change.
    ///
    /// - Parameter isBusy: whether a change of this registration or installation is in progress; if so, it is retried later.
    mutating func withdrawExpired(now: Timestamp, isBusy: (Expiring) -> Bool) -> RegistrationChange {
        var change = RegistrationChange()
        let departure = RegistrationDeparture(.expired, at: now)
        var busy: [UInt32] = []
        while let place = expiries.popFirst(dueBy: now) {
            let id = id(at: place)
            guard !isBusy(.registration(id)) else {
                busy.append(place)
                continue
            }
            change.removals.append(RemovedRegistration(place: place, id: id, departure: departure))
            withdrawAll(change.removals.suffix(1))
        }
        for place in busy { expiries.set(now, at: place) }
        busy = []
        while let place = installations.expiries.popFirst(dueBy: now) {
            let id = installations.id(at: place)
            guard !isBusy(.installation(id)), let removal = removal(ofInstallation: id, because: departure) else {
                busy.append(place)
                continue
            }
            withdrawAll(removal.removals[...])
            installations.withdraw(place)
            change.removals += removal.removals
            change.installationRemovals += removal.installationRemovals
        }
        for place in busy { installations.expiries.set(now, at: place) }
        return change
    }

    /// The key that serializes changes of a registration: its installation if it has one.
    func turn(at place: UInt32) -> Expiring {
        installationID(at: place).map { .installation($0) } ?? .registration(id(at: place))
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
