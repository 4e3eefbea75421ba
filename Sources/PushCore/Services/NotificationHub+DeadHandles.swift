// Handles that a push service calls dead.
extension NotificationHub {
    /// A handle that a push service calls dead leaves the hub with everything registered for it, but for what was
    /// registered anew meanwhile: after the moment that the service names, or else since the send began.
    func takeFeedback(_ settled: [SettledTarget], since start: Timestamp) async -> [Delivery.News] {
        var news: [Delivery.News] = []
        let dead = await dropDead(settled, since: start)
        for target in settled {
            var device = target.result.device
            device.isRegistrationRemoved =
                device.registrationID.map { dead.removed.contains($0) || hasDied($0) } ?? dead.cleared.contains(device.handle)
            meter.ended(device.platform, device.outcome)
            let place = device.registrationID.flatMap { table.note(device.outcome, of: $0) }
            news.append(Delivery.News(place: target.place, device: device, changedPlace: place))
        }
        return news
    }

    private func hasDied(_ id: RegistrationID) -> Bool {
        if case .handleDied = table.departure(of: id)?.reason { true } else { false }
    }

    /// Takes registrations whose handles are dead off the air, and the channels of installations, all in one change. Answers which
    /// registrations left, and which handles had any.
    private func dropDead(
        _ settled: [SettledTarget], since start: Timestamp
    ) async -> (removed: Set<RegistrationID>, cleared: Set<DeviceHandle>) {
        var found: [(registration: Registration, result: DeliveryResult)] = []
        var seen: Set<DeviceHandle> = []
        for target in settled where target.result.isHandleDead && seen.insert(target.result.device.handle).inserted {
            found += table.registrations(for: target.result.device.handle).map { ($0, target.result) }
        }
        guard !found.isEmpty else { return ([], []) }
        // Always in the same order, so that two that take many do not wait for each other.
        let keys = Set(found.map { RegistrationTable.Expiring(of: $0.registration) }).sorted()
        for key in keys { await takeTurn(key) }
        defer { for key in keys { turns.leave(key) } }
        var change = RegistrationChange()
        var installations: [String: (installation: Installation, dead: Set<DeviceHandle>, departure: RegistrationDeparture)] = [:]
        var (removed, cleared): (Set<RegistrationID>, Set<DeviceHandle>) = ([], [])
        var notes: [String] = []
        for (registration, result) in found {
            let (handle, reason) = (result.device.handle, result.device.reason)
            // It may have been written while others had their turn.
            guard let now = table[registration.id], now.handle == handle, now.updatedAt <= (result.deadSince ?? start) else { continue }
            let departure = departure(
                .handleDied("\(handle.platform.displayName) answered \(reason.isEmpty ? "that its handle is dead" : reason)"))
            if let id = registration.installationID {
                guard let row = table.installation(id) else { continue }
                var entry = installations[id] ?? (row.installation, [], departure)
                if entry.dead.insert(handle).inserted { notes.append("installation \(id): channel expired, \(reason)") }
                entry.installation = entry.installation.expiring(handle)
                installations[id] = entry
            } else if let removal = table.removal(of: registration.id, because: departure) {
                change.removals.append(removal)
                notes.append("registration \(registration.id) removed: \(reason)")
            }
            cleared.insert(handle)
        }
        for (id, entry) in installations.sorted(by: { $0.key < $1.key }) {
            guard let row = table.installation(id) else { continue }
            let staying = table.registrations(ofInstallation: id).filter { !entry.dead.contains($0.handle) }
            let part = table.change(entry.installation, as: staying, expiration: row.expiration, departure: entry.departure)
            change.removals += part.removals
            change.puts += part.puts
            change.installationPuts += part.installationPuts
        }
        guard !change.isEmpty else { return ([], []) }
        removed = Set(change.removals.map(\.id))
        do throws(PushError) {
            try await keep(change)
            for text in notes { environment.note(.feedback, text) }
            return (removed, cleared)
        } catch {
            for handle in cleared.sorted(by: { $0.text < $1.text }) {
                environment.note(.feedback, "\(handle.abbreviated) is dead and still registered: \(error.message)")
            }
            return ([], [])
        }
    }
}

extension RegistrationTable.Expiring: Comparable {
    /// Whose turn it is to change a registration: its installation's, where it stands for one.
    init(of registration: Registration) {
        self = registration.installationID.map { .installation($0) } ?? .registration(registration.id)
    }

    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.registration(let left), .registration(let right)): left.text < right.text
        case (.installation(let left), .installation(let right)): left < right
        case (.registration, .installation): true
        case (.installation, .registration): false
        }
    }
}
