extension RegistrationTable {
    mutating func expire(_ place: UInt32, at moment: Timestamp) {
        expiries.set(moment, at: place)
        if expiries.isStale { expiries.renew(end: max(end, place + 1)) }
    }

    /// Takes what has expired by `now` off the air at once. The change that comes of it is still to be kept and applied.
    ///
    /// - Parameter isBusy: tells what is being changed just now; it is looked at again later.
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

    /// Whose turn it is to change a registration: its installation's, where it stands for one.
    func turn(at place: UInt32) -> Expiring {
        installationID(at: place).map { .installation($0) } ?? .registration(id(at: place))
    }
}
