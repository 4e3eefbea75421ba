import PushModel

// Invalid handles: what happens when a push service rejects a device's handle for good.
extension NotificationHub {
    /// Removes the registrations of handles that push services report as invalid, and returns the results of all devices. A registration
    /// stays if it was updated after the time that the service names, or else after the send began. Removals beyond the notification's
    /// limit are held.
    func recordResults(_ settled: [SettledTarget], since start: Timestamp, _ tally: inout DeliveryTally) async -> [DeliveryTally.Settled] {
        var results: [DeliveryTally.Settled] = []
        results.reserveCapacity(settled.count)
        let dead = await removeInvalid(invalidHandles(settled, of: tally.outcome.id, since: start), &tally)
        let isAnyRemoved = !dead.removed.isEmpty || !dead.cleared.isEmpty
        for target in settled {
            var device = target.result.device
            if isAnyRemoved || target.result.isHandleInvalid || device.outcome == .skipped {
                device.isRegistrationRemoved =
                    device.registrationID.map { dead.removed.contains($0) || hasDied($0) } ?? dead.cleared.contains(device.handle)
            }
            if device.isRegistrationRemoved { meter.pruned(device.platform, device.removalReason) }
            let place = target.place.flatMap { table.note(device.outcome, at: $0) ? $0 : nil }
            results.append(DeliveryTally.Settled(order: target.order, device: device, changedRow: place))
        }
        for (end, count) in results.ends { meter.ended(end.platform, end.outcome, count) }
        return results
    }

    private func hasDied(_ id: RegistrationID) -> Bool {
        if case .handleDied = table.departure(of: id)?.reason { true } else { false }
    }

    /// The handles that push services report as invalid, each once.
    private func invalidHandles(_ settled: [SettledTarget], of notification: String, since start: Timestamp) -> [InvalidHandle] {
        var seen: Set<DeviceHandle> = []
        return settled.compactMap { target in
            let device = target.result.device
            guard target.result.isHandleInvalid, pipeline.trustsInvalidHandles(on: device.platform), seen.insert(device.handle).inserted
            else { return nil }
            return InvalidHandle(
                handle: device.handle, reason: device.reason, notificationID: notification, validBefore: target.result.invalidSince ?? start
            )
        }
    }

    private func removeInvalid(_ dead: [InvalidHandle], _ delivery: inout DeliveryTally) async -> RemovalResult {
        let found = placed(dead)
        // Nothing is registered for these handles.
        guard !found.isEmpty else { return RemovalResult() }
        var attempted = found
        let keys = await acquireLocks(of: found)
        defer { for key in keys { turns.leave(key) } }
        do throws(PushError) {
            guard delivery.brake.isLimited || !heldRows.isEmpty else { return try await withdraw(found) }
            let rows = Dictionary(grouping: try await removable(found), by: \.dead.handle)
            let heldBefore = delivery.brake.held
            var (now, later) = ([InvalidHandleRow](), [InvalidHandleRow]())
            for dead in dead {
                guard let rows = rows[dead.handle] else { continue }
                // A removal that is held already stays held until the operator decides, even if other notifications report it again.
                let isHeld = rows.contains { heldRows.contains($0.place) }
                if !isHeld, delivery.brake.admitsRemoval() { now += rows } else { later += rows }
            }
            if !later.isEmpty { await hold(later, isFirst: heldBefore == 0 && delivery.brake.held > 0, &delivery) }
            attempted = now
            return try await withdraw(now)
        } catch {
            for handle in Set(attempted.map(\.dead.handle)).sorted(by: { $0.text < $1.text }) { noteRefusal(handle, error) }
            return RemovalResult()
        }
    }

    /// Removes registrations with invalid handles, and the channels of installations, in one change.
    func remove(_ dead: [InvalidHandle]) async throws(PushError) -> RemovalResult {
        let found = placed(dead)
        guard !found.isEmpty else { return RemovalResult() }
        let keys = await acquireLocks(of: found)
        defer { for key in keys { turns.leave(key) } }
        return try await withdraw(found)
    }

    /// The handles whose registrations a removal would delete.
    func removableHandles(_ dead: [InvalidHandle]) async throws(PushError) -> Set<DeviceHandle> {
        Set(try await removable(placed(dead)).map(\.dead.handle))
    }

    private func placed(_ dead: [InvalidHandle]) -> [InvalidHandleRow] {
        dead.flatMap { dead in table.places(for: dead.handle).map { InvalidHandleRow(place: $0, id: table.id(at: $0), dead: dead) } }
    }

    /// Acquires the locks in a fixed order, which prevents deadlocks. The caller must release them.
    private func acquireLocks(of found: [InvalidHandleRow]) async -> [RegistrationTable.Expiring] {
        let keys = Set(found.map { table.turn(at: $0.place) }).sorted()
        for key in keys { await takeTurn(key) }
        return keys
    }

    /// The registrations that still exist and were not updated after their handles became invalid.
    private func removable(_ found: [InvalidHandleRow]) async throws(PushError) -> [InvalidHandleRow] {
        let standing = found.filter { table.place(of: $0.id) == $0.place }
        let rows = try await rows(stillAt: standing.map(\.place))
        let current = Dictionary(uniqueKeysWithValues: rows.map { ($0.place, $0.registration) })
        return standing.filter { $0.isRemovable(current[$0.place]) }
    }

    /// Removes registrations whose locks the caller holds.
    private func withdraw(_ found: [InvalidHandleRow]) async throws(PushError) -> RemovalResult {
        guard !found.isEmpty else { return RemovalResult() }
        var (change, rows, cleared, notes) = try await withdrawal(of: found)
        guard !change.isEmpty else { return RemovalResult() }
        change.events = deaths(of: change.pruned, origin: [])
        try await keep(change, replacing: rows)
        for text in notes { environment.note(.feedback, text) }
        return RemovalResult(removed: Set(change.removals.map(\.id)), cleared: cleared)
    }

    private func noteRefusal(_ handle: DeviceHandle, _ error: PushError) {
        environment.note(.feedback, "\(handle.abbreviated) is invalid but could not be removed: \(error.message)")
    }

    private typealias Withdrawal = (change: RegistrationChange, rows: ReplacedRows, cleared: Set<DeviceHandle>, notes: [String])

    /// Builds the change that removes registrations with invalid handles, and the rows that it replaces. The caller holds the locks.
    private func withdrawal(of found: [InvalidHandleRow]) async throws(PushError) -> Withdrawal {
        // The rows may have changed while this call waited for the locks.
        let standing = found.filter { table.place(of: $0.id) == $0.place }
        var registrations = try await rows(at: standing.map(\.place))
        let current = Dictionary(uniqueKeysWithValues: registrations.map { ($0.place, $0.registration) })
        var withdrawal: Withdrawal = (RegistrationChange(), ReplacedRows(), [], [])
        var installations: [String: (row: InstallationRow, dead: Set<DeviceHandle>, departure: RegistrationDeparture)] = [:]
        for found in standing {
            let (id, handle, reason) = (found.id, found.dead.handle, found.dead.reason)
            let notification = found.dead.notificationID
            guard let now = current[found.place], found.isRemovable(now) else { continue }
            let departure = departure(
                .handleDied("\(handle.platform.displayName) answered \(reason.isEmpty ? "that its handle is invalid" : reason)"))
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

/// A handle that a push service reports as invalid.
struct InvalidHandle: Sendable {
    var handle: DeviceHandle
    /// The push service's reason code.
    var reason: String
    /// The notification for which the service reported it.
    var notificationID: String
    /// Registrations that were updated later are not removed.
    var validBefore: Timestamp
}

/// A registration for an invalid handle.
struct InvalidHandleRow: Sendable {
    var place: UInt32
    var id: RegistrationID
    var dead: InvalidHandle

    /// - Parameter registration: the current registration in the row.
    func isRemovable(_ registration: Registration?) -> Bool {
        guard let registration else { return false }
        return registration.handle == dead.handle && registration.updatedAt <= dead.validBefore
    }
}

/// The result of a removal.
struct RemovalResult: Sendable {
    var removed: Set<RegistrationID> = []
    /// Handles that had registrations.
    var cleared: Set<DeviceHandle> = []
}
