// Handles that a push service calls dead.
extension NotificationHub {
    /// A handle that a push service calls dead leaves the hub with everything registered for it, but for what was
    /// registered anew meanwhile: after the moment that the service names, or else since the send began.
    func takeFeedback(_ settled: [SettledTarget], of notification: String, since start: Timestamp) async -> [Delivery.News] {
        var news: [Delivery.News] = []
        news.reserveCapacity(settled.count)
        let dead = await dropDead(settled, of: notification, since: start)
        let isAnyDead = !dead.removed.isEmpty || !dead.cleared.isEmpty
        for target in settled {
            var device = target.result.device
            if isAnyDead || target.result.isHandleDead || device.outcome == .skipped {
                device.isRegistrationRemoved =
                    device.registrationID.map { dead.removed.contains($0) || hasDied($0) } ?? dead.cleared.contains(device.handle)
            }
            if device.isRegistrationRemoved { meter.pruned(device.platform, device.reasonOfRemoval) }
            let place = target.place.flatMap { table.note(device.outcome, at: $0) ? $0 : nil }
            news.append(Delivery.News(order: target.order, device: device, changedPlace: place))
        }
        for (end, count) in news.ends { meter.ended(end.platform, end.outcome, count) }
        return news
    }

    private func hasDied(_ id: RegistrationID) -> Bool {
        if case .handleDied = table.departure(of: id)?.reason { true } else { false }
    }

    /// Takes registrations whose handles are dead off the air, and the channels of installations, all in one change. Answers which
    /// registrations left, and which handles had any.
    private func dropDead(
        _ settled: [SettledTarget], of notification: String, since start: Timestamp
    ) async -> (removed: Set<RegistrationID>, cleared: Set<DeviceHandle>) {
        var found: [(place: UInt32, id: RegistrationID, result: DeliveryResult)] = []
        var seen: Set<DeviceHandle> = []
        for target in settled
        where target.result.isHandleDead && pipeline.believesDeaths(on: target.result.device.platform)
            && seen.insert(target.result.device.handle).inserted
        {
            found += table.places(for: target.result.device.handle).map { ($0, table.id(at: $0), target.result) }
        }
        guard !found.isEmpty else { return ([], []) }
        // Always in the same order, so that two that take many do not wait for each other.
        let keys = Set(found.map { table.turn(at: $0.place) }).sorted()
        for key in keys { await takeTurn(key) }
        defer { for key in keys { turns.leave(key) } }
        var (removed, cleared): (Set<RegistrationID>, Set<DeviceHandle>) = ([], [])
        var (change, rows, notes) = (RegistrationChange(), ReplacedRows(), [String]())
        do throws(PushError) {
            (change, rows, cleared, notes) = try await withdrawal(of: found, by: notification, since: start)
        } catch {
            let handles = Set(found.map(\.result.device.handle)).sorted { $0.text < $1.text }
            for handle in handles { noteRefusal(handle, error) }
            return ([], [])
        }
        guard !change.isEmpty else { return ([], []) }
        removed = Set(change.removals.map(\.id))
        change.events = deaths(of: change.pruned, origin: [])
        do throws(PushError) {
            try await keep(change, replacing: rows)
            for text in notes { environment.note(.feedback, text) }
            return (removed, cleared)
        } catch {
            for handle in cleared.sorted(by: { $0.text < $1.text }) { noteRefusal(handle, error) }
            return ([], [])
        }
    }

    private func noteRefusal(_ handle: DeviceHandle, _ error: PushError) {
        environment.note(.feedback, "\(handle.abbreviated) is dead and still registered: \(error.message)")
    }

    private typealias Withdrawal = (change: RegistrationChange, rows: ReplacedRows, cleared: Set<DeviceHandle>, notes: [String])

    /// What is to be changed where the handles of these are dead, with the rows that it replaces; the caller has their turns.
    private func withdrawal(
        of found: [(place: UInt32, id: RegistrationID, result: DeliveryResult)], by notification: String, since start: Timestamp
    ) async throws(PushError) -> Withdrawal {
        // It may have been written while others had their turn.
        let standing = found.filter { table.place(of: $0.id) == $0.place }
        var registrations = try await rows(at: standing.map(\.place))
        let current = Dictionary(uniqueKeysWithValues: registrations.map { ($0.place, $0.registration) })
        var withdrawal: Withdrawal = (RegistrationChange(), ReplacedRows(), [], [])
        var installations: [String: (row: PlacedInstallation, dead: Set<DeviceHandle>, departure: RegistrationDeparture)] = [:]
        for (place, id, result) in standing {
            let (handle, reason) = (result.device.handle, result.device.reason)
            guard let now = current[place], now.handle == handle, now.updatedAt <= (result.deadSince ?? start) else { continue }
            let departure = departure(
                .handleDied("\(handle.platform.displayName) answered \(reason.isEmpty ? "that its handle is dead" : reason)"))
            if let installation = now.installationID {
                if installations[installation] == nil {
                    guard let row = try await installationRow(installation) else { continue }
                    installations[installation] = (row, [], departure)
                }
                if installations[installation]?.dead.insert(handle).inserted == true {
                    let row = installations[installation]?.row.installation
                    withdrawal.change.pruned.append(
                        PrunedDevice(
                            .installation(id: installation, userID: row?.userID, tags: row?.tags ?? []), handle: handle, reason: reason,
                            notificationID: notification, time: departure.time))
                    withdrawal.notes.append("installation \(installation): channel expired, \(reason)")
                }
            } else if let removal = table.removal(of: id, because: departure) {
                withdrawal.change.removals.append(removal)
                withdrawal.change.pruned.append(
                    PrunedDevice(
                        .registration(now), handle: handle, reason: reason, notificationID: notification, time: departure.time))
                withdrawal.notes.append("registration \(id) removed: \(reason)")
            }
            withdrawal.cleared.insert(handle)
        }
        for (id, entry) in installations.sorted(by: { $0.key < $1.key }) {
            let existing = try await rows(at: table.places(ofInstallation: id))
            let installation = entry.dead.reduce(entry.row.installation) { $0.expiring($1) }
            let part = table.change(
                installation, as: existing.map(\.registration).filter { !entry.dead.contains($0.handle) },
                expiration: entry.row.expiration, departure: entry.departure)
            withdrawal.change.removals += part.removals
            withdrawal.change.puts += part.puts
            withdrawal.change.installationPuts += part.installationPuts
            registrations += existing
        }
        withdrawal.rows = ReplacedRows(registrations, installations.values.map(\.row))
        return withdrawal
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
