/// Stored registrations of installations that have reserved tags of another installation or user, as an older version accepted them.
///
/// The hub's index has none of these tags, so reads of such a row must not return them either. They go when the row is written again,
/// which is why an entry holds for one state of its row.
struct ForeignTags: Sendable {
    private struct Entry: Sendable {
        let etag: Int
        let updatedAt: Timestamp
        /// What the row has beside them.
        let tags: [Tag]
    }

    private var entries: [RegistrationID: Entry] = [:]

    /// - Parameter isOwn: whether the hub gives a reserved tag to this registration.
    mutating func note(_ registration: Registration, keeping isOwn: (Tag) -> Bool) {
        let tags = registration.tags.filter { !$0.isReserved || isOwn($0) }
        entries[registration.id] = Entry(etag: registration.etag, updatedAt: registration.updatedAt, tags: tags)
    }

    /// A row of the store as the hub sees it.
    func removed(from placed: PlacedRegistration) -> PlacedRegistration {
        guard !entries.isEmpty, let entry = entries[placed.registration.id], entry.etag == placed.registration.etag,
            entry.updatedAt == placed.registration.updatedAt
        else { return placed }
        var clean = placed
        clean.registration.tags = entry.tags
        return clean
    }
}
