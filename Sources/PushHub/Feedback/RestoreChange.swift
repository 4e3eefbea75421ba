import PushModel

/// The devices restored in one change.
struct RestoreChange {
    private struct Known {
        /// Nil if the installation no longer exists.
        var row: InstallationRow?
        var existing: [RegistrationRow]
        /// The id of another installation that has the tag `$InstallationId:{…}` of this one.
        var tagOwner: String?
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
    private(set) var registeredTimes: [DeviceHandle: Timestamp]
    private var back: Set<RegistrationID> = []

    init(now: Timestamp, registeredTimes: [DeviceHandle: Timestamp]) { (self.now, self.registeredTimes) = (now, registeredTimes) }

    mutating func add(_ device: PrunedDevice, _ registration: Registration, isTaken: (RegistrationID) -> Bool) {
        if registration.expiration <= now {
            sum.unrestorable += 1
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

    /// - Parameter tagOwner: the id of another installation that has the tag `$InstallationId:{…}` of this one.
    mutating func know(_ installation: String, _ row: InstallationRow?, _ existing: [RegistrationRow], tagOwner: String?) {
        known[installation] = Known(row: row, existing: existing, tagOwner: tagOwner)
    }

    /// Restores a channel of an installation. Its registrations keep their old update time, so that a push service that reports when the
    /// handle became invalid can still have them removed.
    mutating func add(_ device: PrunedDevice, _ installation: String, nextID: () -> RegistrationID) {
        guard let entry = known[installation], let row = entry.row, row.expiration > now else {
            sum.unrestorable += 1
            return
        }
        guard !isRegisteredAgain(device),
            let revived = (entry.revived?.installation ?? row.installation).clearingExpired(device.handle)
        else {
            sum.registeredAgain += 1
            return
        }
        if let other = entry.tagOwner {
            sum.unfit += 1
            faults.append(
                "installation \(installation) cannot be restored: its id differs from that of the installation \(other) in case only; "
                    + "delete one of them")
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
    private func isRegisteredAgain(_ device: PrunedDevice) -> Bool { registeredTimes[device.handle].map { $0 > device.time } ?? false }

    private mutating func restored(_ device: PrunedDevice, from time: Timestamp) {
        registeredTimes[device.handle] = max(registeredTimes[device.handle] ?? time, time)
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
