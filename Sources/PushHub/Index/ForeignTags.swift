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
