import PushModel

// Access to whole rows. They are in the store; the table knows only their row numbers.
extension NotificationHub {
    /// Registrations without the reserved tags that older versions accepted from clients. The index does not contain these tags either.
    nonisolated func storedRegistrations(at places: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await store.registrations(at: places).map { foreignTags.removed(from: $0.withoutForeignTags) }
    }

    /// Installations without the reserved tags that older versions accepted from clients.
    nonisolated func storedInstallations(at places: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await store.installations(at: places).map(\.withoutForeignTags)
    }

    /// The stored registration with an id; nil if it does not exist.
    func row(_ id: RegistrationID) async throws(PushError) -> RegistrationRow? {
        guard let place = table.place(of: id) else { return nil }
        let row = try await storedRegistrations(at: [place]).first { $0.registration.id == id }
        // It may have been removed while the store was read.
        if row == nil, table.place(of: id) == place { throw Self.missing("registration \(id)") }
        return row
    }

    /// All registrations in these rows. The caller holds their locks.
    func rows(at places: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        guard !places.isEmpty else { return [] }
        let ids = places.map { table.id(at: $0) }
        let rows = try await storedRegistrations(at: places)
        guard rows.map(\.registration.id) == ids else { throw Self.missing("a registration in row \(places[0]) or later") }
        return rows
    }

    /// The registrations in these rows that still exist.
    func rows(stillAt places: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        guard !places.isEmpty else { return [] }
        let ids = Dictionary(uniqueKeysWithValues: places.map { ($0, table.id(at: $0)) })
        return try await storedRegistrations(at: places).filter { ids[$0.place] == $0.registration.id }
    }

    /// The stored installation with an id; nil if it does not exist.
    func installationRow(_ id: String) async throws(PushError) -> InstallationRow? {
        guard let place = table.installations.place(of: id) else { return nil }
        let row = try await storedInstallations(at: [place]).first { $0.installation.id == id }
        if row == nil, table.installations.place(of: id) == place { throw Self.missing("installation \(id)") }
        return row
    }

    /// The installations in these rows that still exist.
    func installationRows(stillAt places: [UInt32]) async throws(PushError) -> [InstallationRow] {
        guard !places.isEmpty else { return [] }
        let ids = Dictionary(uniqueKeysWithValues: places.map { ($0, table.installations.id(at: $0)) })
        return try await storedInstallations(at: places).filter { ids[$0.place] == $0.installation.id }
    }

    private static func missing(_ row: String) -> PushError {
        PushError(
            "storage.conflict", "\(row) is missing from the store",
            hint: "two servers may use the same storage: run only one of them, and restart it", status: 500)
    }
}

extension Registration {
    /// Whether the filter matches. The registration may have changed since its row was found.
    func isMeant(by filter: RegistrationFilter) -> Bool {
        switch filter {
        case .all: return true
        case .tag(let tag): return tags.contains(tag)
        case .handle(let handle): return self.handle == handle
        case .endpoint(let endpoint):
            if case .browser(endpoint, _, _) = handle { return true }
            return false
        }
    }
}

extension InstallationRow {
    /// The installation with its effective expiration, as clients see it.
    var dated: Installation {
        var dated = installation
        dated.expiration = expiration
        return dated
    }
}

extension RegistrationRow {
    /// Without reserved tags, unless it belongs to an installation: the hub gives reserved tags only to those, so clients set the others.
    /// `ForeignTags` covers reserved tags that clients set on registrations of installations.
    var withoutForeignTags: RegistrationRow {
        guard registration.installationID == nil, registration.tags.contains(where: \.isReserved) else { return self }
        var clean = self
        clean.registration.tags = registration.tags.withoutReserved
        return clean
    }
}

extension InstallationRow {
    /// Without reserved tags. The hub does not store its own tags with an installation, so reserved ones come from a client.
    var withoutForeignTags: InstallationRow {
        guard installation.ownTags.contains(where: \.isReserved) else { return self }
        var clean = self
        clean.installation.tags = installation.tags.withoutReserved
        clean.installation.templates = installation.templates.mapValues(\.withoutForeignTags)
        clean.installation.secondaryTiles = installation.secondaryTiles.mapValues { tile in
            var tile = tile
            tile.tags = tile.tags.withoutReserved
            tile.templates = tile.templates.mapValues(\.withoutForeignTags)
            return tile
        }
        return clean
    }
}

extension InstallationTemplate {
    fileprivate var withoutForeignTags: InstallationTemplate {
        var clean = self
        clean.tags = tags?.withoutReserved
        return clean
    }
}
