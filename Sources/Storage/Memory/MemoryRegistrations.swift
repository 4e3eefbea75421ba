import PushModel

/// The registrations and installations of a hub, with those that were removed.
struct MemoryRegistrations {
    private var registrations: [UInt32: Registration] = [:]
    private var rows: [RegistrationID: UInt32] = [:]
    private var installations: [UInt32: InstallationRow] = [:]
    private var tombstones: [RegistrationID: RegistrationTombstone] = [:]
    /// Details of removed registrations, where known.
    private var deleted: [RegistrationID: DeletedRegistration] = [:]
    private var lastOutcomes: [UInt32: OutcomeName] = [:]

    /// All data, in row order.
    func stored(lastSequence: Int64) -> StoredHub {
        StoredHub(
            registrations: registrations.map { RegistrationRow(row: $0.key, registration: $0.value) }
                .sorted { $0.row < $1.row },
            installations: installations.values.sorted { $0.row < $1.row }, tombstones: tombstones,
            lastOutcomes: lastOutcomes, lastSequence: lastSequence)
    }

    func registrations(at rows: [UInt32]) -> [RegistrationRow] {
        rows.compactMap { row in registrations[row].map { RegistrationRow(row: row, registration: $0) } }
    }

    func installations(at rows: [UInt32]) -> [InstallationRow] { rows.compactMap { installations[$0] } }

    func tags(after row: UInt32?, limit: Int) -> [TagsRow] {
        registrations.keys.filter { key in row.map { key > $0 } ?? true }.sorted().prefix(limit)
            .map { TagsRow(row: $0, tags: registrations[$0]?.tags ?? []) }
    }

    // MARK: - Changes

    /// Applies the removals of a change.
    mutating func remove(_ change: RegistrationChange) {
        for removal in change.removals {
            deleted[removal.id] = registrations[removal.row].map { DeletedRegistration($0, removal.tombstone) }
            clear(removal.row)
            tombstones[removal.id] = removal.tombstone
        }
        for row in change.installationRemovals { installations[row] = nil }
    }

    /// Applies the puts of a change.
    mutating func put(_ change: RegistrationChange) {
        for put in change.puts {
            let id = put.registration.id
            if registrations[put.row]?.id != id { clear(put.row) }
            if let other = rows[id], other != put.row { clear(other) }
            registrations[put.row] = put.registration
            rows[id] = put.row
            tombstones[id] = nil
            deleted[id] = nil
        }
        for put in change.installationPuts { installations[put.row] = put }
    }

    /// Removes the registration in a row.
    private mutating func clear(_ row: UInt32) {
        if let old = registrations.removeValue(forKey: row) { rows[old.id] = nil }
        lastOutcomes[row] = nil
    }

    mutating func setLastOutcomes(_ outcomes: [UInt32: OutcomeName]) {
        for (row, outcome) in outcomes where registrations[row] != nil { lastOutcomes[row] = outcome }
    }

    // MARK: - Tombstones

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) -> [DeletedRegistration] {
        Array(deleted.values.filter { $0.isMeant(by: subject) }.sorted { $0.isListedBefore($1) }.prefix(limit))
    }

    mutating func removeTombstones(before time: Timestamp, limit: Int) -> Int {
        let forgotten = tombstones.filter { $0.value.time < time }.sorted { $0.value.time < $1.value.time }.prefix(limit)
        for (id, _) in forgotten { (tombstones[id], deleted[id]) = (nil, nil) }
        return forgotten.count
    }
}

extension DeletedRegistration {
    fileprivate init(_ registration: Registration, _ tombstone: RegistrationTombstone) {
        self.init(
            id: registration.id, tombstone: tombstone, handle: registration.handle, expiration: registration.expiration,
            installationID: registration.installationID)
    }

    fileprivate func isMeant(by subject: DeletedRegistrationFilter) -> Bool {
        switch subject {
        case .installation(let id): installationID == id
        case .handle(let handle): self.handle == handle
        case .registration(let id): self.id == id
        }
    }

    /// Latest first; at the same time, by id.
    fileprivate func isListedBefore(_ other: DeletedRegistration) -> Bool {
        tombstone.time == other.tombstone.time ? id.text < other.id.text : tombstone.time > other.tombstone.time
    }
}
