/// The hub's live registrations and installations, immediately consistent, with the index over their tags.
struct RegistrationTable: Sendable {
    /// Why a registration left.
    enum Departure: Sendable, Equatable {
        case deleted
        case expired
        /// A push service called its handle dead, for this reason.
        case handleDied(String)
        /// Its installation has another shape now, or is gone.
        case installationChanged
    }

    private enum Expiring: Sendable {
        case registration(RegistrationID)
        case installation(String)
    }

    /// By dense id; a freed place is used again. A registration keeps its place as long as it lives.
    private var rows: [Registration?] = []
    private var free: [UInt32] = []
    private var places: [RegistrationID: UInt32] = [:]
    private var placesByHandle: [DeviceHandle: Set<UInt32>] = [:]
    private var placesByInstallation: [String: Set<UInt32>] = [:]
    private var installations = InstallationTable()
    private(set) var index = AudienceIndex()
    /// Ids that are no longer usable: writing to them is answered with 410.
    private var departed: [RegistrationID: Departure] = [:]
    /// What expires when; whatever was renewed meanwhile is passed over when its old moment comes.
    private var expiries = TimeQueue<Expiring>()

    var count: Int { places.count }

    func departure(of id: RegistrationID) -> Departure? { departed[id] }

    subscript(id: RegistrationID) -> Registration? {
        places[id].flatMap { rows[Int($0)] }
    }

    // MARK: - Registrations

    mutating func put(_ registration: Registration) {
        let place: UInt32
        var oldExpiration: Timestamp?
        if let old = places[registration.id] {
            oldExpiration = rows[Int(old)]?.expiration
            detach(old)
            place = old
        } else if let freed = free.popLast() {
            place = freed
        } else {
            place = UInt32(rows.count)
            rows.append(nil)
        }
        rows[Int(place)] = registration
        places[registration.id] = place
        placesByHandle[registration.handle, default: []].insert(place)
        index.insert(place, tags: registration.tags)
        departed[registration.id] = nil
        if let installation = registration.installationID {
            placesByInstallation[installation, default: []].insert(place)
        } else if oldExpiration != registration.expiration {
            expire(.registration(registration.id), at: registration.expiration)
        }
    }

    mutating func remove(_ id: RegistrationID, because departure: Departure) {
        guard let place = places.removeValue(forKey: id) else { return }
        detach(place)
        rows[Int(place)] = nil
        free.append(place)
        departed[id] = departure
    }

    /// Takes the row at `place` out of every index.
    private mutating func detach(_ place: UInt32) {
        guard let registration = rows[Int(place)] else { return }
        index.remove(place, tags: registration.tags)
        placesByHandle[registration.handle]?.remove(place)
        if placesByHandle[registration.handle]?.isEmpty == true { placesByHandle[registration.handle] = nil }
        if let installation = registration.installationID {
            placesByInstallation[installation]?.remove(place)
            if placesByInstallation[installation]?.isEmpty == true { placesByInstallation[installation] = nil }
        }
    }

    // MARK: - Reading

    func select(_ expression: TagExpression?) -> [Registration] {
        index.select(expression).compactMap { rows[Int($0)] }
    }

    func registrations(for handle: DeviceHandle) -> [Registration] {
        (placesByHandle[handle] ?? []).sorted().compactMap { rows[Int($0)] }
    }

    func registrations(ofInstallation id: String) -> [Registration] {
        (placesByInstallation[id] ?? []).sorted().compactMap { rows[Int($0)] }
    }

    /// Up to `top` registrations behind `place`, and the place of the last one when more follow.
    ///
    /// A registration keeps its place, so whoever pages through while others come and go sees each one that stays once.
    func page(_ filter: RegistrationFilter, behind place: UInt32?, top: Int) -> (found: [Registration], last: UInt32?) {
        let first = place.map { Int($0) + 1 } ?? 0
        switch filter {
        case .all: return page(rows.indices.dropFirst(first).lazy.map { UInt32($0) }, top: top)
        case .tag(let tag): return page(index.select(.tag(tag)).lazy.filter { $0 >= first }, top: top)
        case .handle(let handle):
            return page((placesByHandle[handle] ?? []).filter { $0 >= first }.sorted(), top: top)
        }
    }

    private func page(_ places: some Sequence<UInt32>, top: Int) -> (found: [Registration], last: UInt32?) {
        var found: [Registration] = []
        var last: UInt32?
        for place in places {
            guard let row = rows[Int(place)] else { continue }
            if found.count == top { return (found, last) }
            found.append(row)
            last = place
        }
        return (found, nil)
    }

    // MARK: - Installations

    func installation(_ id: String) -> InstallationTable.Row? { installations[id] }

    /// A page of a list of installations, of all of them for nil, as `page` gives registrations.
    func installations(
        in list: InstallationTable.List?, behind place: UInt32?, top: Int
    ) -> (found: [Installation], last: UInt32?) {
        installations.page(list, behind: place, top: top)
    }

    mutating func put(_ installation: Installation, as registrations: [Registration], expiration: Timestamp) {
        let kept = Set(registrations.map(\.id))
        for old in self.registrations(ofInstallation: installation.id) where !kept.contains(old.id) {
            remove(old.id, because: .installationChanged)
        }
        for registration in registrations { put(registration) }
        let old = installations.put(InstallationTable.Row(installation: installation, expiration: expiration))
        if old?.expiration != expiration { expire(.installation(installation.id), at: expiration) }
    }

    mutating func removeInstallation(_ id: String, because departure: Departure) {
        for registration in registrations(ofInstallation: id) { remove(registration.id, because: departure) }
        installations.remove(id)
    }

    /// Keeps the installation and takes it off the air, because its channel is dead.
    mutating func expireChannel(ofInstallation id: String, because departure: Departure) {
        for registration in registrations(ofInstallation: id) { remove(registration.id, because: departure) }
        installations.expireChannel(of: id)
    }

    // MARK: - Expiry

    private mutating func expire(_ subject: Expiring, at moment: Timestamp) {
        guard moment < .distantFuture else { return }
        expiries.insert(subject, at: moment)
        if expiries.count > 2 * (places.count + installations.count) + 64 { rebuildExpiries() }
    }

    /// Leaves out the moments that no longer apply.
    private mutating func rebuildExpiries() {
        expiries = TimeQueue()
        for case let row? in rows where row.installationID == nil && row.expiration < .distantFuture {
            expiries.insert(.registration(row.id), at: row.expiration)
        }
        for row in installations.all where row.expiration < .distantFuture {
            expiries.insert(.installation(row.installation.id), at: row.expiration)
        }
    }

    /// Removes what has expired by `now`. Answers how many registrations went.
    mutating func removeExpired(now: Timestamp) -> Int {
        let before = count
        while let subject = expiries.popFirst(dueBy: now) {
            switch subject {
            case .registration(let id):
                guard let row = self[id], row.expiration <= now else { continue }
                remove(id, because: .expired)
            case .installation(let id):
                guard let stored = installations[id], stored.expiration <= now else { continue }
                removeInstallation(id, because: .expired)
            }
        }
        return before - count
    }
}
