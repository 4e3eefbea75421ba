import PushModel

/// Stored registrations of installations that have reserved tags of another installation or user, as an older version accepted them.
///
/// The index does not contain these tags, so reads must not return them either. They disappear when the row is written again; an entry
/// therefore applies to one version of its row.
struct ForeignTags: Sendable {
    private struct Entry: Sendable {
        let etag: Int
        let updatedAt: Timestamp
        /// The remaining tags of the row.
        let tags: [Tag]
    }

    private var entries: [RegistrationID: Entry] = [:]

    /// - Parameter isOwn: whether the hub assigned a reserved tag to this registration.
    mutating func note(_ registration: Registration, keeping isOwn: (Tag) -> Bool) {
        let tags = registration.tags.filter { !$0.isReserved || isOwn($0) }
        entries[registration.id] = Entry(etag: registration.etag, updatedAt: registration.updatedAt, tags: tags)
    }

    /// A stored row without its foreign tags.
    func removed(from placed: RegistrationRow) -> RegistrationRow {
        guard !entries.isEmpty, let entry = entries[placed.registration.id], entry.etag == placed.registration.etag,
            entry.updatedAt == placed.registration.updatedAt
        else { return placed }
        var clean = placed
        clean.registration.tags = entry.tags
        return clean
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
