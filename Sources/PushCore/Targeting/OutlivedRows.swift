/// Rows of installations that expired and were written anew elsewhere, while the store could forget nothing.
struct OutlivedRows {
    /// Places.
    private(set) var installations: Set<UInt32> = []
    private(set) var registrations: Set<UInt32> = []
    /// What the store is to be told of them.
    private(set) var removal = RegistrationChange()

    init(_ stored: StoredHub) {
        var newest: [String: PlacedInstallation] = [:]
        var older: [String: [PlacedInstallation]] = [:]
        for placed in stored.installations {
            let id = placed.installation.id
            guard let other = newest[id] else {
                newest[id] = placed
                continue
            }
            let isNewer = placed.isNewer(than: other)
            if isNewer { newest[id] = placed }
            older[id, default: []].append(isNewer ? other : placed)
        }
        guard !older.isEmpty else { return }
        removal.installationRemovals = older.values.joined().map(\.place).sorted()
        installations = Set(removal.installationRemovals)
        for placed in stored.registrations {
            let registration = placed.registration
            guard let id = registration.installationID, let now = newest[id],
                older[id]?.contains(where: { $0.expiration == registration.expiration }) == true,
                registration.expiration != now.expiration
            else { continue }
            registrations.insert(placed.place)
            removal.removals.append(
                RemovedRegistration(
                    place: placed.place, id: registration.id, departure: RegistrationDeparture(.expired, at: registration.expiration)))
        }
    }
}

extension PlacedInstallation {
    fileprivate func isNewer(than other: PlacedInstallation) -> Bool {
        guard let own = installation.updatedAt, let theirs = other.installation.updatedAt, own != theirs else {
            return expiration > other.expiration
        }
        return own > theirs
    }
}
