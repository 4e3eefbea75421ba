import PushModel

/// The ids of removed registrations, each with its tombstone. Writing to such an id returns 410.
struct TombstoneTable: Sendable {
    private var tombstones: [RegistrationID: RegistrationTombstone] = [:]
    /// Entries of ids that were created or removed again since are ignored.
    private var queue = TimeQueue<RegistrationID>()

    subscript(_ id: RegistrationID) -> RegistrationTombstone? { tombstones[id] }

    mutating func insert(_ tombstone: RegistrationTombstone, of id: RegistrationID) {
        tombstones[id] = tombstone
        queue.insert(id, at: tombstone.time)
    }

    /// Forgets an id, which has been registered again.
    mutating func remove(_ id: RegistrationID) {
        if !tombstones.isEmpty { tombstones[id] = nil }
    }

    /// Forgets ids that were removed before `time`.
    mutating func removeAll(before time: Timestamp) {
        while let first = queue.first, first.time < time {
            _ = queue.popFirst()
            if tombstones[first.subject]?.time == first.time { tombstones[first.subject] = nil }
        }
    }
}
