// Handles that a push service calls dead.
extension NotificationHub {
    /// Removes what is registered for handles that a push service calls invalid, but for what was registered again meanwhile: after
    /// the time that the service names, or else since the send began. Removals beyond the notification's limit are held.
    func takeFeedback(_ settled: [SettledTarget], since start: Timestamp, _ delivery: inout Delivery) async -> [Delivery.News] {
        var news: [Delivery.News] = []
        news.reserveCapacity(settled.count)
        let dead = await removeDead(deadHandles(settled, of: delivery.outcome.id, since: start), &delivery)
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

    /// Those of these handles that push services call invalid, each once.
    private func deadHandles(_ settled: [SettledTarget], of notification: String, since start: Timestamp) -> [DeadHandle] {
        var seen: Set<DeviceHandle> = []
        return settled.compactMap { target in
            let device = target.result.device
            guard target.result.isHandleDead, pipeline.believesDeaths(on: device.platform), seen.insert(device.handle).inserted
            else { return nil }
            return DeadHandle(
                handle: device.handle, reason: device.reason, notificationID: notification, validBefore: target.result.deadSince ?? start)
        }
    }

    private func removeDead(_ dead: [DeadHandle], _ delivery: inout Delivery) async -> RemovedHandles {
        let found = placed(dead)
        // What nothing is registered for is no removal.
        guard !found.isEmpty else { return RemovedHandles() }
        var attempted = found
        let keys = await takeTurns(of: found)
        defer { for key in keys { turns.leave(key) } }
        do throws(PushError) {
            guard delivery.brake.isLimited || !heldRows.isEmpty else { return try await withdraw(found) }
            let rows = Dictionary(grouping: try await removable(found), by: \.dead.handle)
            let heldBefore = delivery.brake.held
            var (now, later) = ([PlacedDeath](), [PlacedDeath]())
            for dead in dead {
                guard let rows = rows[dead.handle] else { continue }
                // What is held already waits for the operator, however many notifications come by it.
                let isHeld = rows.contains { heldRows.contains($0.place) }
                if !isHeld, delivery.brake.admitsRemoval() { now += rows } else { later += rows }
            }
            if !later.isEmpty { await hold(later, isFirst: heldBefore == 0 && delivery.brake.held > 0, &delivery) }
            attempted = now
            return try await withdraw(now)
        } catch {
            for handle in Set(attempted.map(\.dead.handle)).sorted(by: { $0.text < $1.text }) { noteRefusal(handle, error) }
            return RemovedHandles()
        }
    }

    /// Takes registrations whose handles are invalid off the air, and the channels of installations, all in one change.
    func remove(_ dead: [DeadHandle]) async throws(PushError) -> RemovedHandles {
        let found = placed(dead)
        guard !found.isEmpty else { return RemovedHandles() }
        let keys = await takeTurns(of: found)
        defer { for key in keys { turns.leave(key) } }
        return try await withdraw(found)
    }

    /// Of these handles those with registrations that a removal would take away.
    func removableHandles(_ dead: [DeadHandle]) async throws(PushError) -> Set<DeviceHandle> {
        Set(try await removable(placed(dead)).map(\.dead.handle))
    }

    private func placed(_ dead: [DeadHandle]) -> [PlacedDeath] {
        dead.flatMap { dead in table.places(for: dead.handle).map { PlacedDeath(place: $0, id: table.id(at: $0), dead: dead) } }
    }

    /// Always in the same order, so that two that take many do not wait for each other. The caller leaves them.
    private func takeTurns(of found: [PlacedDeath]) async -> [RegistrationTable.Expiring] {
        let keys = Set(found.map { table.turn(at: $0.place) }).sorted()
        for key in keys { await takeTurn(key) }
        return keys
    }

    /// Those that are registered still, and were not registered again after the handle was called invalid.
    private func removable(_ found: [PlacedDeath]) async throws(PushError) -> [PlacedDeath] {
        let standing = found.filter { table.place(of: $0.id) == $0.place }
        let rows = try await rows(stillAt: standing.map(\.place))
        let current = Dictionary(uniqueKeysWithValues: rows.map { ($0.place, $0.registration) })
        return standing.filter { $0.isRemovable(current[$0.place]) }
    }

    /// Takes registrations off the air; the caller has their turns.
    private func withdraw(_ found: [PlacedDeath]) async throws(PushError) -> RemovedHandles {
        guard !found.isEmpty else { return RemovedHandles() }
        var (change, rows, cleared, notes) = try await withdrawal(of: found)
        guard !change.isEmpty else { return RemovedHandles() }
        change.events = deaths(of: change.pruned, origin: [])
        try await keep(change, replacing: rows)
        for text in notes { environment.note(.feedback, text) }
        return RemovedHandles(removed: Set(change.removals.map(\.id)), cleared: cleared)
    }

    private func noteRefusal(_ handle: DeviceHandle, _ error: PushError) {
        environment.note(.feedback, "\(handle.abbreviated) is invalid and still registered: \(error.message)")
    }

    private typealias Withdrawal = (change: RegistrationChange, rows: ReplacedRows, cleared: Set<DeviceHandle>, notes: [String])

    /// What is to be changed where the handles of these are invalid, with the rows that it replaces; the caller has their turns.
    private func withdrawal(of found: [PlacedDeath]) async throws(PushError) -> Withdrawal {
        // It may have been written while others had their turn.
        let standing = found.filter { table.place(of: $0.id) == $0.place }
        var registrations = try await rows(at: standing.map(\.place))
        let current = Dictionary(uniqueKeysWithValues: registrations.map { ($0.place, $0.registration) })
        var withdrawal: Withdrawal = (RegistrationChange(), ReplacedRows(), [], [])
        var installations: [String: (row: PlacedInstallation, dead: Set<DeviceHandle>, departure: RegistrationDeparture)] = [:]
        for found in standing {
            let (id, handle, reason) = (found.id, found.dead.handle, found.dead.reason)
            let notification = found.dead.notificationID
            guard let now = current[found.place], found.isRemovable(now) else { continue }
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

/// A handle that a push service calls invalid.
struct DeadHandle: Sendable {
    var handle: DeviceHandle
    /// The push service's own word.
    var reason: String
    /// The notification that was refused.
    var notificationID: String
    /// Registrations that were updated later stay.
    var validBefore: Timestamp
}

/// A registration for a handle that a push service calls invalid.
struct PlacedDeath: Sendable {
    var place: UInt32
    var id: RegistrationID
    var dead: DeadHandle

    /// - Parameter registration: what is registered at the place now.
    func isRemovable(_ registration: Registration?) -> Bool {
        guard let registration else { return false }
        return registration.handle == dead.handle && registration.updatedAt <= dead.validBefore
    }
}

/// What the removal of handles took away.
struct RemovedHandles: Sendable {
    var removed: Set<RegistrationID> = []
    /// Handles that had something registered.
    var cleared: Set<DeviceHandle> = []
}
