// Devices that left because their handles were called dead, and how they come back.
extension NotificationHub {
    /// Most devices that come back in one change.
    private static let restoreStep = 500

    /// Those that can be brought back, the latest first, with numbers below `number`, or from the latest on for nil.
    package func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await store.pruned(kept(filter), below: number, limit: limit)
    }

    /// Brings back what left, as it was: all of a step or nothing, the latest first. Whoever has registered again since stays as he is.
    ///
    /// Where a step cannot be kept it throws, with the number of those that are back already as the detail `restored`.
    /// - Parameter isTrial: whether it is only said what would come back.
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
                if restored > 0 { error.message += "; \(restored) devices are back already" }
                error.details["restored"] = .integer(Int64(restored))
                throw error
            }
        }
        if sum.restored > 0, !isTrial { environment.note(.feedback, "\(sum.restored) devices that had left are back") }
        return sum
    }

    // MARK: - Telling

    /// Of whom nobody has acknowledged to know, those who left first first.
    package func untoldPruned(limit: Int) async throws(PushError) -> [PrunedDevice] { try await store.untoldPruned(limit: limit) }

    package func countUntoldPruned() async throws(PushError) -> Int { try await store.countUntoldPruned() }

    package func acknowledgePruned(upTo number: Int64) async throws(PushError) { try await store.acknowledgePruned(upTo: number) }

    /// Gives up on telling of the first where there are more than `most`; answers of how many.
    package func dropUntoldPruned(beyond most: Int) async throws(PushError) -> Int {
        try await store.dropUntoldPruned(beyond: most)
    }
}

// Removals that are held, because one notification had too many.
extension NotificationHub {
    private static let heldStep = 500

    /// Registrations whose removal is held.
    package var heldRemovalCount: Int { heldRows.count }

    /// The newest first, those with numbers below `number`, or from the newest on for nil.
    package func heldRemovals(
        _ filter: HeldRemovalFilter, below number: Int64?, limit: Int
    ) async throws(PushError) -> [HeldRemoval] {
        try await store.heldRemovals(filter, below: number, limit: limit)
    }

    /// Removes the devices of held removals, as if they had been removed when their notifications were refused.
    ///
    /// Where a step cannot be stored it throws; the steps before it are applied.
    /// - Parameter isTrial: whether it is only counted.
    package func applyHeldRemovals(
        _ filter: HeldRemovalFilter, isTrial: Bool = false
    ) async throws(PushError) -> HeldRemovalResult {
        try await settleHeldRemovals(filter, "applied", isTrial: isTrial) { [self] step throws(PushError) in
            let dead = step.map { DeadHandle($0) }
            let cleared = isTrial ? try await removableHandles(dead) : try await remove(dead).cleared
            let removed = step.filter { cleared.contains($0.handle) }
            if !isTrial {
                for removal in removed { meter.pruned(removal.handle.platform, removal.reason) }
                _ = try await drop(step)
            }
            return HeldRemovalResult(devices: removed.count, outdated: step.count - removed.count)
        }
    }

    /// Forgets held removals: their devices stay registered.
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

    /// Drops removals, but for those that a later notification has held once more meanwhile.
    ///
    /// - Returns: how many it dropped.
    private func drop(_ removals: [HeldRemoval]) async throws(PushError) -> Int {
        // So that none of them is held once more while its rows are looked for.
        let keys = Set(removals.flatMap { table.places(for: $0.handle) }.map { table.turn(at: $0) }).sorted()
        for key in keys { await takeTurn(key) }
        defer { for key in keys { turns.leave(key) } }
        let dropped = try await store.dropHeldRemovals(removals)
        for removal in removals where dropped.contains(removal.number) {
            for row in table.places(for: removal.handle) { heldRows.remove(row) }
        }
        return dropped.count
    }

    /// Holds removals; the caller has the turns of the registrations.
    ///
    /// - Parameter isFirst: whether they are the first beyond the limit of their notification, of which the operator is warned.
    func hold(_ found: [PlacedDeath], isFirst: Bool, _ delivery: inout Delivery) async {
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
                .feedback, "\(delivery.outcome.id): \(handles.count) removals could not be stored, the devices stay: \(error.message)")
            return
        }
        heldRows.insert(contentsOf: found.map(\.place))
        guard isFirst else { return }
        let notice = Notice.heldRemovals(percent: Int((settings.maxRemovedShare * 100).rounded()))
        delivery.outcome.note([notice])
        environment.warn(.feedback, "\(delivery.outcome.id): \(notice.text); check the environment, then use pushhost pruned apply or drop")
    }

    /// Finds the rows of what an earlier process held.
    func loadHeldRemovals() async throws(PushError) {
        var number: Int64?
        while true {
            let step = try await store.heldRemovals(HeldRemovalFilter(), below: number, limit: Self.heldStep)
            for removal in step { heldRows.insert(contentsOf: table.places(for: removal.handle)) }
            guard let last = step.last else { return }
            number = last.number
        }
    }

    /// Marks the held removals that a change settles: those of devices of which no other row is to be removed.
    ///
    /// - Returns: the rows that are held no more.
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

extension DeadHandle {
    fileprivate init(_ removal: HeldRemoval) {
        self.init(
            handle: removal.handle, reason: removal.reason, notificationID: removal.notificationID, validBefore: removal.validBefore)
    }
}

extension NotificationHub {
    /// What nobody may bring back any more is not shown.
    private func kept(_ filter: PrunedFilter) -> PrunedFilter {
        let earliest = environment.clock.now + (.zero - settings.keepPruned)
        var filter = filter
        filter.since = max(filter.since ?? earliest, earliest)
        return filter
    }

    /// - Parameter back: when the handles were registered that are back already, or would be.
    private func restore(
        _ step: [PrunedDevice], after back: inout [DeviceHandle: Timestamp], isTrial: Bool
    ) async throws(PushError) -> Restoration {
        // Always in the same order, as in `dropDead`.
        let keys = Set(step.map(\.turn)).sorted()
        for key in keys { await takeTurn(key) }
        defer { for key in keys { turns.leave(key) } }
        try checkIsOpen()
        let now = environment.clock.now
        var revival = Revival(now: now, standing: try await latestUpdates(ofHandlesOf: step).merging(back, uniquingKeysWith: max))
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

    /// When the handles of these that are registered just now were registered.
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

/// What comes back in one change.
private struct Revival {
    private struct Known {
        /// Nil where there is none any more.
        var row: PlacedInstallation?
        var existing: [PlacedRegistration]
        /// With a channel more, and what stands for it then.
        var revived: (installation: Installation, registrations: [Registration])?
    }

    private(set) var sum = Restoration()
    private(set) var numbers: [Int64] = []
    private(set) var registrations: [Registration] = []
    /// Of those that are unfit, and why.
    private(set) var faults: [String] = []
    private var known: [String: Known] = [:]
    private let now: Timestamp
    /// When the handles that are registered, or are with this, were registered.
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

    mutating func know(_ installation: String, _ row: PlacedInstallation?, _ existing: [PlacedRegistration]) {
        known[installation] = Known(row: row, existing: existing)
    }

    /// Its registrations are as old as they were, so that a push service that says when a handle died is believed.
    mutating func add(_ device: PrunedDevice, _ installation: String, nextID: () -> RegistrationID) {
        guard let entry = known[installation], let row = entry.row, row.expiration > now else {
            sum.gone += 1
            return
        }
        guard !isRegisteredAgain(device),
            let revived = (entry.revived?.installation ?? row.installation).reviving(device.handle)
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
            faults.append("installation \(installation) cannot come back as it is kept: \(error.message)")
        }
    }

    /// Somebody has the handle who came after it left: the same phone would get everything twice.
    private func isRegisteredAgain(_ device: PrunedDevice) -> Bool { standing[device.handle].map { $0 > device.time } ?? false }

    private mutating func restored(_ device: PrunedDevice, from moment: Timestamp) {
        standing[device.handle] = max(standing[device.handle] ?? moment, moment)
        numbers.append(device.number)
        sum.restored += 1
    }

    /// Those that have a channel more.
    var installations: [(PlacedInstallation, [Registration])] {
        known.sorted { $0.key < $1.key }.compactMap { _, entry in
            guard var placed = entry.row, let revived = entry.revived else { return nil }
            placed.installation = revived.installation
            return (placed, revived.registrations)
        }
    }

    /// What stands at the places of the change.
    var replaced: ReplacedRows {
        let changed = known.values.filter { $0.revived != nil }
        return ReplacedRows(changed.flatMap(\.existing), changed.compactMap(\.row))
    }
}
