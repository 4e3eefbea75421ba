import PushModel

// Pruned devices: devices removed because their handles are invalid, and how to restore them.
extension NotificationHub {
    /// Maximum number of devices restored in one change.
    private static let restoreStep = 500

    /// Lists devices that can be restored, newest first, from below `number` or from the newest.
    package func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await store.pruned(kept(filter), below: number, limit: limit)
    }

    /// Restores pruned devices, newest first, in steps that are applied completely or not at all. Devices that registered again are left
    /// unchanged.
    ///
    /// If a step cannot be stored, the error has the number of devices restored so far as the detail `restored`.
    /// - Parameter isTrial: whether to report what would be restored, without a change.
    package func restore(_ filter: PrunedFilter, isTrial: Bool = false) async throws(PushError) -> Restoration {
        try checkIsOpen()
        let filter = kept(filter)
        var (sum, number, back) = (Restoration(), Int64?.none, [DeviceHandle: Timestamp]())
        while true {
            do throws(PushError) {
                let step = try await store.pruned(filter, below: number, limit: Self.restoreStep)
                guard let last = step.last else { break }
                sum += try await restore(step, after: &back, isTrial: isTrial)
                number = last.number
                if step.count < Self.restoreStep { break }
            } catch {
                var error = error
                let restored = isTrial ? 0 : sum.restored
                if restored > 0 { error.message += "; \(restored) devices were restored before" }
                error.details["restored"] = .integer(Int64(restored))
                throw error
            }
        }
        if sum.restored > 0, !isTrial { environment.note(.feedback, "\(sum.restored) pruned devices restored") }
        return sum
    }

    // MARK: - Reporting

    /// Pruned devices that have not been acknowledged, oldest first.
    package func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] { try await store.unreportedPruned(limit: limit) }

    package func countUnreportedPruned() async throws(PushError) -> Int { try await store.countUnreportedPruned() }

    package func acknowledgePruned(upTo number: Int64) async throws(PushError) { try await store.acknowledgePruned(upTo: number) }

    /// Drops the oldest unacknowledged devices beyond `most`. Returns how many were dropped.
    package func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try await store.dropUnreportedPruned(beyond: most)
    }
}

// Removals that are held because they exceeded the limit of their notification.
extension NotificationHub {
    private static let heldStep = 500

    /// Number of registrations whose removal is held.
    package var heldRemovalCount: Int { heldRows.count }

    /// Lists held removals, newest first, from below `number` or from the newest.
    package func heldRemovals(
        _ filter: HeldRemovalFilter, below number: Int64?, limit: Int
    ) async throws(PushError) -> [HeldRemoval] {
        try await store.heldRemovals(filter, below: number, limit: limit)
    }

    /// Removes the devices of held removals, as if they had been removed when their notifications were rejected.
    ///
    /// If a step cannot be stored, the error is thrown; earlier steps stay applied.
    /// - Parameter isTrial: whether to count only.
    package func applyHeldRemovals(
        _ filter: HeldRemovalFilter, isTrial: Bool = false
    ) async throws(PushError) -> HeldRemovalResult {
        try await settleHeldRemovals(filter, "applied", isTrial: isTrial) { [self] step throws(PushError) in
            let dead = step.map { InvalidHandle($0) }
            let cleared = isTrial ? try await removableHandles(dead) : try await remove(dead).cleared
            let removed = step.filter { cleared.contains($0.handle) }
            if !isTrial {
                for removal in removed { meter.pruned(removal.handle.platform, removal.reason) }
                _ = try await drop(step)
            }
            return HeldRemovalResult(devices: removed.count, outdated: step.count - removed.count)
        }
    }

    /// Drops held removals. Their devices stay registered.
    package func dropHeldRemovals(
        _ filter: HeldRemovalFilter, isTrial: Bool = false
    ) async throws(PushError) -> HeldRemovalResult {
        try await settleHeldRemovals(filter, "dropped", isTrial: isTrial) { [self] step throws(PushError) in
            HeldRemovalResult(devices: isTrial ? step.count : try await drop(step))
        }
    }

    private func settleHeldRemovals(
        _ filter: HeldRemovalFilter, _ verb: String, isTrial: Bool,
        _ settle: ([HeldRemoval]) async throws(PushError) -> HeldRemovalResult
    ) async throws(PushError) -> HeldRemovalResult {
        try checkIsOpen()
        var (sum, number) = (HeldRemovalResult(), Int64?.none)
        while true {
            let step = try await store.heldRemovals(filter, below: number, limit: Self.heldStep)
            guard let last = step.last else { break }
            let part = try await settle(step)
            sum = HeldRemovalResult(devices: sum.devices + part.devices, outdated: sum.outdated + part.outdated)
            number = last.number
        }
        if sum.devices > 0, !isTrial { environment.note(.feedback, "\(sum.devices) held removals \(verb)") }
        return sum
    }

    /// Drops removals, except those that a later notification has held again meanwhile.
    ///
    /// - Returns: how many were dropped.
    private func drop(_ removals: [HeldRemoval]) async throws(PushError) -> Int {
        // Locked, so that none of them is held again while its rows are looked up.
        let keys = Set(removals.flatMap { table.places(for: $0.handle) }.map { table.turn(at: $0) }).sorted()
        for key in keys { await takeTurn(key) }
        defer { for key in keys { turns.leave(key) } }
        let dropped = try await store.dropHeldRemovals(removals)
        for removal in removals where dropped.contains(removal.number) {
            for row in table.places(for: removal.handle) { heldRows.remove(row) }
        }
        return dropped.count
    }

    /// Holds removals. The caller holds the locks of the registrations.
    ///
    /// - Parameter isFirst: whether these are the notification's first held removals, which causes a warning.
    func hold(_ found: [InvalidHandleRow], isFirst: Bool, _ delivery: inout DeliveryTally) async {
        let now = environment.clock.now
        let dead = Dictionary(found.map { ($0.dead.handle, $0.dead) }, uniquingKeysWith: { first, _ in first })
        let handles = found.map(\.dead.handle).uniqued()
        do throws(PushError) {
            try await store.hold(
                handles.compactMap { dead[$0] }.map {
                    HeldRemoval(
                        handle: $0.handle, reason: $0.reason, notificationID: $0.notificationID, time: now, validBefore: $0.validBefore)
                })
        } catch {
            environment.warn(
                .feedback,
                "\(delivery.outcome.id): \(handles.count) removals could not be stored, the devices stay registered: \(error.message)")
            return
        }
        heldRows.insert(contentsOf: found.map(\.place))
        guard isFirst else { return }
        let notice = Notice.heldRemovals(percent: Int((settings.maxRemovedShare * 100).rounded()))
        delivery.outcome.note([notice])
        environment.warn(.feedback, "\(delivery.outcome.id): \(notice.text); check the environment, then use pushhost pruned apply or drop")
    }

    /// Finds the rows of removals that an earlier process held.
    func loadHeldRemovals() async throws(PushError) {
        var number: Int64?
        while true {
            let step = try await store.heldRemovals(HeldRemovalFilter(), below: number, limit: Self.heldStep)
            for removal in step { heldRows.insert(contentsOf: table.places(for: removal.handle)) }
            guard let last = step.last else { return }
            number = last.number
        }
    }

    /// Adds to a change the held removals that it settles: those of handles without any other held row.
    ///
    /// - Returns: the rows whose removal is no longer held.
    func settleHeldRemovals(in change: inout RegistrationChange) -> [UInt32] {
        guard !heldRows.isEmpty else { return [] }
        let rows = Set(change.removals.map(\.place) + change.puts.map(\.place)).filter { heldRows.contains($0) }.sorted()
        for row in rows { heldRows.remove(row) }
        change.settledRemovals += rows.map { table.handle(at: $0) }.uniqued().filter { handle in
            !table.places(for: handle).contains { heldRows.contains($0) }
        }
        return rows
    }
}

extension InvalidHandle {
    fileprivate init(_ removal: HeldRemoval) {
        self.init(
            handle: removal.handle, reason: removal.reason, notificationID: removal.notificationID, validBefore: removal.validBefore)
    }
}

extension NotificationHub {
    /// Limits a filter to devices that can still be restored.
    private func kept(_ filter: PrunedFilter) -> PrunedFilter {
        let earliest = environment.clock.now + (.zero - settings.prunedRetention)
        var filter = filter
        filter.since = max(filter.since ?? earliest, earliest)
        return filter
    }

    /// - Parameter back: update times of the handles that were restored already, or would be in a trial.
    private func restore(
        _ step: [PrunedDevice], after back: inout [DeviceHandle: Timestamp], isTrial: Bool
    ) async throws(PushError) -> Restoration {
        // In a fixed order, as for invalid handles, which prevents deadlocks.
        let keys = Set(step.map(\.turn)).sorted()
        for key in keys { await takeTurn(key) }
        defer { for key in keys { turns.leave(key) } }
        try checkIsOpen()
        let now = environment.clock.now
        var revival = RestoreChange(now: now, standing: try await latestUpdates(ofHandlesOf: step).merging(back, uniquingKeysWith: max))
        for device in step {
            switch device.subject {
            case .registration(let registration):
                revival.add(device, registration) { table.place(of: $0) != nil }
            case .installation(let id, _, _):
                if revival.needs(id) {
                    revival.know(id, try await installationRow(id), try await rows(at: table.places(ofInstallation: id)))
                }
                revival.add(device, id, nextID: newRegistrationID)
            }
        }
        back = revival.standing
        if isTrial { return revival.sum }
        for fault in revival.faults { environment.warn(.feedback, fault) }
        if revival.sum.restored == 0 { return revival.sum }
        var change = RegistrationChange(puts: revival.registrations.map { table.placed($0) })
        change.restored = revival.numbers
        change.restoredAt = now
        for (placed, registrations) in revival.installations {
            let part = table.change(
                placed.installation, as: registrations, expiration: placed.expiration, departure: departure(.installationChanged))
            change.removals += part.removals
            change.puts += part.puts
            change.installationPuts += part.installationPuts
        }
        try await keep(change, replacing: revival.replaced)
        return revival.sum
    }

    /// The latest update times of the registrations that these devices' handles have now.
    private func latestUpdates(ofHandlesOf step: [PrunedDevice]) async throws(PushError) -> [DeviceHandle: Timestamp] {
        var latest: [DeviceHandle: Timestamp] = [:]
        for row in try await rows(stillAt: Set(step.map(\.handle)).flatMap { table.places(for: $0) }.sorted()) {
            latest[row.registration.handle] = max(latest[row.registration.handle] ?? row.registration.updatedAt, row.registration.updatedAt)
        }
        return latest
    }
}

extension PrunedDevice {
    fileprivate var turn: RegistrationTable.Expiring {
        switch subject {
        case .registration(let registration): .registration(registration.id)
        case .installation(let id, _, _): .installation(id)
        }
    }
}

/// The devices restored in one change.
private struct RestoreChange {
    private struct Known {
        /// Nil if the installation no longer exists.
        var row: InstallationRow?
        var existing: [RegistrationRow]
        /// With the restored channels, and the registrations that follow from them.
        var revived: (installation: Installation, registrations: [Registration])?
    }

    private(set) var sum = Restoration()
    private(set) var numbers: [Int64] = []
    private(set) var registrations: [Registration] = []
    /// Why installations could not be restored.
    private(set) var faults: [String] = []
    private var known: [String: Known] = [:]
    private let now: Timestamp
    /// Update times of the handles that are registered now, or will be after this change.
    private(set) var standing: [DeviceHandle: Timestamp]
    private var back: Set<RegistrationID> = []

    init(now: Timestamp, standing: [DeviceHandle: Timestamp]) { (self.now, self.standing) = (now, standing) }

    mutating func add(_ device: PrunedDevice, _ registration: Registration, isTaken: (RegistrationID) -> Bool) {
        if registration.expiration <= now {
            sum.gone += 1
        } else if isTaken(registration.id) || isRegisteredAgain(device) || !back.insert(registration.id).inserted {
            sum.registeredAgain += 1
        } else {
            var registration = registration
            registration.etag += 1
            registration.tags = registration.tags.withoutReserved
            registrations.append(registration)
            restored(device, from: registration.updatedAt)
        }
    }

    func needs(_ installation: String) -> Bool { known[installation] == nil }

    mutating func know(_ installation: String, _ row: InstallationRow?, _ existing: [RegistrationRow]) {
        known[installation] = Known(row: row, existing: existing)
    }

    /// Restores a channel of an installation. Its registrations keep their old update time, so that a push service that reports when the
    /// handle became invalid can still have them removed.
    mutating func add(_ device: PrunedDevice, _ installation: String, nextID: () -> RegistrationID) {
        guard let entry = known[installation], let row = entry.row, row.expiration > now else {
            sum.gone += 1
            return
        }
        guard !isRegisteredAgain(device),
            let revived = (entry.revived?.installation ?? row.installation).clearingExpired(device.handle)
        else {
            sum.registeredAgain += 1
            return
        }
        do throws(PushError) {
            let registrations = try revived.registrations(
                nextID: nextID, existing: entry.existing.map(\.registration), expiration: row.expiration,
                now: revived.updatedAt ?? Timestamp(milliseconds: 0))
            known[installation]?.revived = (revived, registrations)
            restored(device, from: revived.updatedAt ?? Timestamp(milliseconds: 0))
        } catch {
            sum.unfit += 1
            faults.append("installation \(installation) cannot be restored as stored: \(error.message)")
        }
    }

    /// Whether the handle was registered again after it was pruned. Restoring it would then deliver every push twice to one device.
    private func isRegisteredAgain(_ device: PrunedDevice) -> Bool { standing[device.handle].map { $0 > device.time } ?? false }

    private mutating func restored(_ device: PrunedDevice, from moment: Timestamp) {
        standing[device.handle] = max(standing[device.handle] ?? moment, moment)
        numbers.append(device.number)
        sum.restored += 1
    }

    /// Installations with restored channels.
    var installations: [(InstallationRow, [Registration])] {
        known.sorted { $0.key < $1.key }.compactMap { _, entry in
            guard var placed = entry.row, let revived = entry.revived else { return nil }
            placed.installation = revived.installation
            return (placed, revived.registrations)
        }
    }

    /// The rows that the change replaces.
    var replaced: ReplacedRows {
        let changed = known.values.filter { $0.revived != nil }
        return ReplacedRows(changed.flatMap(\.existing), changed.compactMap(\.row))
    }
}
