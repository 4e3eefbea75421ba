import PushModel

/// The registrations and installations of a hub, with those that were removed.
struct MemoryRegistrations {
    private var registrations: [UInt32: Registration] = [:]
    private var places: [RegistrationID: UInt32] = [:]
    private var installations: [UInt32: InstallationRow] = [:]
    private var departures: [RegistrationID: RegistrationDeparture] = [:]
    /// Details of removed registrations, where known.
    private var departed: [RegistrationID: DepartedRegistration] = [:]
    private var lastOutcomes: [UInt32: OutcomeName] = [:]

    /// All data, in row order.
    func stored(lastSequence: Int64) -> StoredHub {
        StoredHub(
            registrations: registrations.map { RegistrationRow(place: $0.key, registration: $0.value) }
                .sorted { $0.place < $1.place },
            installations: installations.values.sorted { $0.place < $1.place }, departures: departures,
            lastOutcomes: lastOutcomes, lastSequence: lastSequence)
    }

    func registrations(at places: [UInt32]) -> [RegistrationRow] {
        places.compactMap { place in registrations[place].map { RegistrationRow(place: place, registration: $0) } }
    }

    func installations(at places: [UInt32]) -> [InstallationRow] { places.compactMap { installations[$0] } }

    func tags(after place: UInt32?, limit: Int) -> [TagsRow] {
        registrations.keys.filter { key in place.map { key > $0 } ?? true }.sorted().prefix(limit)
            .map { TagsRow(place: $0, tags: registrations[$0]?.tags ?? []) }
    }

    // MARK: - Changes

    /// Applies the removals of a change.
    mutating func remove(_ change: RegistrationChange) {
        for removal in change.removals {
            departed[removal.id] = registrations[removal.place].map { DepartedRegistration($0, removal.departure) }
            clear(removal.place)
            departures[removal.id] = removal.departure
        }
        for place in change.installationRemovals { installations[place] = nil }
    }

    /// Applies the puts of a change.
    mutating func put(_ change: RegistrationChange) {
        for put in change.puts {
            let id = put.registration.id
            if registrations[put.place]?.id != id { clear(put.place) }
            if let other = places[id], other != put.place { clear(other) }
            registrations[put.place] = put.registration
            places[id] = put.place
            departures[id] = nil
            departed[id] = nil
        }
        for put in change.installationPuts { installations[put.place] = put }
    }

    /// Removes the registration in a row.
    private mutating func clear(_ place: UInt32) {
        if let old = registrations.removeValue(forKey: place) { places[old.id] = nil }
        lastOutcomes[place] = nil
    }

    mutating func setLastOutcomes(_ outcomes: [UInt32: OutcomeName]) {
        for (place, outcome) in outcomes where registrations[place] != nil { lastOutcomes[place] = outcome }
    }

    // MARK: - Departures

    func departed(_ subject: DepartedSubject, limit: Int) -> [DepartedRegistration] {
        Array(departed.values.filter { $0.isMeant(by: subject) }.sorted { $0.isListedBefore($1) }.prefix(limit))
    }

    mutating func forgetDepartures(before time: Timestamp, limit: Int) -> Int {
        let forgotten = departures.filter { $0.value.time < time }.sorted { $0.value.time < $1.value.time }.prefix(limit)
        for (id, _) in forgotten { (departures[id], departed[id]) = (nil, nil) }
        return forgotten.count
    }
}

extension DepartedRegistration {
    fileprivate init(_ registration: Registration, _ departure: RegistrationDeparture) {
        self.init(
            id: registration.id, departure: departure, handle: registration.handle, expiration: registration.expiration,
            installationID: registration.installationID)
    }

    fileprivate func isMeant(by subject: DepartedSubject) -> Bool {
        switch subject {
        case .installation(let id): installationID == id
        case .handle(let handle): self.handle == handle
        case .registration(let id): self.id == id
        }
    }

    /// Latest first; at the same time, by id.
    fileprivate func isListedBefore(_ other: DepartedRegistration) -> Bool {
        departure.time == other.departure.time ? id.text < other.id.text : departure.time > other.departure.time
    }
}
