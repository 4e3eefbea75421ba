// Whole rows, which the store has; the table knows their places.
extension NotificationHub {
    /// Rows of the store without the reserved tags that older versions accepted from clients; the index has none of these either.
    nonisolated func storedRegistrations(at places: [UInt32]) async throws(PushError) -> [PlacedRegistration] {
        try await store.registrations(at: places).map { foreignTags.removed(from: $0.withoutForeignTags) }
    }

    /// Installations of the store, likewise.
    nonisolated func storedInstallations(at places: [UInt32]) async throws(PushError) -> [PlacedInstallation] {
        try await store.installations(at: places).map(\.withoutForeignTags)
    }

    /// The registration with an id as it is kept; nil where there is none.
    func row(_ id: RegistrationID) async throws(PushError) -> PlacedRegistration? {
        guard let place = table.place(of: id) else { return nil }
        let row = try await storedRegistrations(at: [place]).first { $0.registration.id == id }
        // It may have left while the store was asked.
        if row == nil, table.place(of: id) == place { throw Self.missing("registration \(id)") }
        return row
    }

    /// The registrations at places that nobody else changes meanwhile, all of them.
    func rows(at places: [UInt32]) async throws(PushError) -> [PlacedRegistration] {
        guard !places.isEmpty else { return [] }
        let ids = places.map { table.id(at: $0) }
        let rows = try await storedRegistrations(at: places)
        guard rows.map(\.registration.id) == ids else { throw Self.missing("a registration at place \(places[0]) or behind it") }
        return rows
    }

    /// Those of these registrations that are there still.
    func rows(stillAt places: [UInt32]) async throws(PushError) -> [PlacedRegistration] {
        guard !places.isEmpty else { return [] }
        let ids = Dictionary(uniqueKeysWithValues: places.map { ($0, table.id(at: $0)) })
        return try await storedRegistrations(at: places).filter { ids[$0.place] == $0.registration.id }
    }

    /// The installation with an id as it is kept; nil where there is none.
    func installationRow(_ id: String) async throws(PushError) -> PlacedInstallation? {
        guard let place = table.installations.place(of: id) else { return nil }
        let row = try await storedInstallations(at: [place]).first { $0.installation.id == id }
        if row == nil, table.installations.place(of: id) == place { throw Self.missing("installation \(id)") }
        return row
    }

    /// Those of these installations that are there still.
    func installationRows(stillAt places: [UInt32]) async throws(PushError) -> [PlacedInstallation] {
        guard !places.isEmpty else { return [] }
        let ids = Dictionary(uniqueKeysWithValues: places.map { ($0, table.installations.id(at: $0)) })
        return try await storedInstallations(at: places).filter { ids[$0.place] == $0.installation.id }
    }

    private static func missing(_ row: String) -> PushError {
        PushError(
            "storage.conflict", "the store has lost \(row)", hint: "two servers may use the same storage: start one of them again",
            status: 500)
    }
}

extension Registration {
    /// Whether a list with that filter has it: it may have been written anew since its place was found.
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

extension PlacedInstallation {
    /// As it is shown: with the moment at which it leaves.
    var dated: Installation {
        var dated = installation
        dated.expiration = expiration
        return dated
    }
}

extension PlacedRegistration {
    /// The hub gives reserved tags to the registrations of installations only; on any other one a client has put them. What a client has
    /// put on those of installations is in `ForeignTags`.
    var withoutForeignTags: PlacedRegistration {
        guard registration.installationID == nil, registration.tags.contains(where: \.isReserved) else { return self }
        var clean = self
        clean.registration.tags = registration.tags.withoutReserved
        return clean
    }
}

extension PlacedInstallation {
    /// The hub does not store its own tags with an installation: reserved ones are a client's.
    var withoutForeignTags: PlacedInstallation {
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
