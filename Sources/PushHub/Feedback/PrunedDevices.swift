import PushModel

/// Devices that were removed because their handles are invalid, and how to restore them.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct PrunedDevices {
    let directory: RegistrationDirectory

    private var context: HubContext { directory.context }

    /// Maximum number of devices restored in one change.
    private static let restoreStep = 500

    /// Lists devices that can be restored, newest first, from below `number` or from the newest.
    func list(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await context.store.pruned(stored(filter), below: number, limit: limit)
    }

    /// Restores pruned devices, newest first, in steps that are applied completely or not at all. Devices that registered again are left
    /// unchanged.
    ///
    /// If a step cannot be stored, the error has the number of devices restored so far as the detail `restored`.
    /// - Parameter isDryRun: whether to report what would be restored, without a change.
    func restore(_ filter: PrunedFilter, isDryRun: Bool = false) async throws(PushError) -> Restoration {
        try context.lifecycle.checkIsOpen()
        let filter = stored(filter)
        var (sum, number, back) = (Restoration(), Int64?.none, [DeviceHandle: Timestamp]())
        while true {
            do throws(PushError) {
                let step = try await context.store.pruned(filter, below: number, limit: Self.restoreStep)
                guard let last = step.last else { break }
                sum += try await restore(step, after: &back, isDryRun: isDryRun)
                number = last.number
                if step.count < Self.restoreStep { break }
            } catch {
                var error = error
                let restored = isDryRun ? 0 : sum.restored
                if restored > 0 { error.message += "; \(restored) devices were restored before" }
                error.details["restored"] = .integer(Int64(restored))
                throw error
            }
        }
        if sum.restored > 0, !isDryRun { context.environment.note(.feedback, "\(sum.restored) pruned devices restored") }
        return sum
    }

    /// Limits a filter to devices that can still be restored.
    private func stored(_ filter: PrunedFilter) -> PrunedFilter {
        let earliest = context.now + (.zero - context.settings.retention.pruned)
        var filter = filter
        filter.since = max(filter.since ?? earliest, earliest)
        return filter
    }

    /// - Parameter back: update times of the handles that were restored already, or would be in a dry run.
    private func restore(
        _ step: [PrunedDevice], after back: inout [DeviceHandle: Timestamp], isDryRun: Bool
    ) async throws(PushError) -> Restoration {
        let keys = await directory.acquire(Set(step.map(\.lockKey)))
        defer { directory.release(keys) }
        try context.lifecycle.checkIsOpen()
        let now = context.now
        var revival = RestoreChange(
            now: now, registeredTimes: try await latestUpdates(ofHandlesOf: step).merging(back, uniquingKeysWith: max))
        for device in step {
            switch device.subject {
            case .registration(let registration):
                revival.add(device, registration) { directory.table.row(of: $0) != nil }
            case .installation(let id, _, _):
                if revival.needs(id) {
                    revival.know(
                        id, try await directory.installationRow(id),
                        try await directory.rows(at: directory.table.rows(ofInstallation: id)),
                        tagOwner: directory.otherOwner(ofTagOf: id))
                }
                revival.add(device, id, nextID: directory.newRegistrationID)
            }
        }
        back = revival.registeredTimes
        if isDryRun { return revival.sum }
        for fault in revival.faults { context.environment.warn(.feedback, fault) }
        if revival.sum.restored == 0 { return revival.sum }
        var change = RegistrationChange(puts: revival.registrations.map { directory.table.placed($0) })
        change.restored = revival.numbers
        change.restoredAt = now
        for (placed, registrations) in revival.installations {
            let part = directory.table.change(
                placed.installation, as: registrations, expiration: placed.expiration, tombstone: directory.tombstone(.installationChanged))
            change.removals += part.removals
            change.puts += part.puts
            change.installationPuts += part.installationPuts
        }
        try await directory.commit(change, replacing: revival.replaced)
        return revival.sum
    }

    /// The latest update times of the registrations that these devices' handles have now.
    private func latestUpdates(ofHandlesOf step: [PrunedDevice]) async throws(PushError) -> [DeviceHandle: Timestamp] {
        var latest: [DeviceHandle: Timestamp] = [:]
        for row in try await directory.rows(stillAt: Set(step.map(\.handle)).flatMap { directory.table.rows(for: $0) }.sorted()) {
            latest[row.registration.handle] = max(latest[row.registration.handle] ?? row.registration.updatedAt, row.registration.updatedAt)
        }
        return latest
    }
}

extension PrunedDevice {
    fileprivate var lockKey: RegistrationKey {
        switch subject {
        case .registration(let registration): .registration(registration.id)
        case .installation(let id, _, _): RegistrationKey(installation: id)
        }
    }
}
