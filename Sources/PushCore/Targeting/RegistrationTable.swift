/// The hub's live registrations and installations, immediately consistent, with the index over their tags.
///
/// A change is made in three steps, so that nobody sees what is not kept yet: it is put together here, which takes the places
/// it needs; the hub has it kept; then it is applied, or abandoned where it could not be kept.
struct RegistrationTable: Sendable {
    enum Expiring: Sendable, Hashable {
        case registration(RegistrationID)
        case installation(String)
    }

    /// By dense id; a freed place is used again. A registration keeps its place as long as it lives.
    private var rows: [Registration?] = []
    private var places: [RegistrationID: UInt32] = [:]
    private var free: [UInt32] = []
    private var placesByHandle: [DeviceHandle: Set<UInt32>] = [:]
    private var placesByInstallation: [String: Set<UInt32>] = [:]
    /// Of browsers, whose handles are looked for without their keys.
    private var placesByEndpoint: [String: Set<UInt32>] = [:]
    private var installations = InstallationTable()
    private(set) var index = AudienceIndex()
    /// Ids that are no longer usable: writing to them is answered with 410.
    private var departed: [RegistrationID: RegistrationDeparture] = [:]
    /// The same by their moments; one that is back, or left anew since, is passed over.
    private var departures = TimeQueue<RegistrationID>()
    /// What the store has and shall have no longer: rows of installations that were written anew elsewhere. Their places are taken.
    let leftovers: RegistrationChange
    /// How the last push to each place ended, as long as `rows`.
    private var lastOutcomes: [OutcomeName?] = []
    /// What expires when; whatever was renewed meanwhile is passed over when its old moment comes.
    private var expiries = TimeQueue<Expiring>()

    var count: Int { places.count }
    var installationCount: Int { installations.count }

    init() { leftovers = RegistrationChange() }

    /// A table as it was kept.
    init(_ stored: StoredHub) {
        let outlived = OutlivedRows(stored)
        leftovers = outlived.removal
        for (id, departure) in stored.departures { depart(id, departure) }
        let current = stored.installations.filter { !outlived.installations.contains($0.place) }
        func unreadable(_ table: UnreadableRow.Table) -> [UInt32] {
            stored.unreadable.filter { $0.table == table }.compactMap(\.place)
        }
        let taken = outlived.registrations.union(unreadable(.registrations))
        installations = InstallationTable(current, taken: outlived.installations.union(unreadable(.installations)))
        for placed in current { expire(.installation(placed.installation.id), at: placed.expiration) }
        for placed in stored.registrations where !outlived.registrations.contains(placed.place) {
            set(placed.registration, at: placed.place)
        }
        for place in taken { reserve(place) }
        for removal in leftovers.removals { depart(removal.id, removal.departure) }
        free = rows.indices.reversed().filter { rows[$0] == nil && !taken.contains(UInt32($0)) }.map { UInt32($0) }
        index.compact()
        for (place, outcome) in stored.lastOutcomes where Int(place) < rows.count { lastOutcomes[Int(place)] = outcome }
    }

    func departure(of id: RegistrationID) -> RegistrationDeparture? { departed[id] }

    func place(of id: RegistrationID) -> UInt32? { places[id] }

    subscript(id: RegistrationID) -> Registration? {
        places[id].flatMap { rows[Int($0)] }
    }

    // MARK: - Changes

    /// Where a registration stands or will stand.
    mutating func placed(_ registration: Registration) -> PlacedRegistration {
        PlacedRegistration(place: places[registration.id] ?? takePlace(), registration: registration)
    }

    func removal(of id: RegistrationID, because departure: RegistrationDeparture) -> RemovedRegistration? {
        places[id].map { RemovedRegistration(place: $0, id: id, departure: departure) }
    }

    /// An installation with the registrations that stand for it; those that no longer do leave for the given reason.
    mutating func change(
        _ installation: Installation, as registrations: [Registration], expiration: Timestamp,
        departure: RegistrationDeparture
    ) -> RegistrationChange {
        let kept = Set(registrations.map(\.id))
        return RegistrationChange(
            removals: self.registrations(ofInstallation: installation.id).filter { !kept.contains($0.id) }
                .compactMap { removal(of: $0.id, because: departure) },
            puts: registrations.map { placed($0) },
            installationPuts: [installations.placed(installation, expiration: expiration)])
    }

    /// Nil where there is no such installation.
    func removal(ofInstallation id: String, because departure: RegistrationDeparture) -> RegistrationChange? {
        guard let place = installations.place(of: id) else { return nil }
        return RegistrationChange(
            removals: registrations(ofInstallation: id).compactMap { removal(of: $0.id, because: departure) },
            installationRemovals: [place])
    }

    mutating func apply(_ change: RegistrationChange) {
        for removal in change.removals {
            if rows[Int(removal.place)] != nil { withdraw(removal) }
            free.append(removal.place)
        }
        for place in change.installationRemovals { installations.remove(at: place) }
        for placed in change.puts { set(placed.registration, at: placed.place) }
        for placed in change.installationPuts {
            let old = installations.set(placed)
            if old?.expiration != placed.expiration { expire(.installation(placed.installation.id), at: placed.expiration) }
        }
    }

    /// Gives back the places that the change took.
    mutating func abandon(_ change: RegistrationChange) {
        for placed in change.puts where rows[Int(placed.place)] == nil { free.append(placed.place) }
        for placed in change.installationPuts { installations.giveBack(placed.place) }
    }

    private mutating func takePlace() -> UInt32 {
        if let freed = free.popLast() { return freed }
        rows.append(nil)
        lastOutcomes.append(nil)
        return UInt32(rows.count - 1)
    }

    private mutating func reserve(_ place: UInt32) {
        while rows.count <= Int(place) {
            rows.append(nil)
            lastOutcomes.append(nil)
        }
    }

    private mutating func depart(_ id: RegistrationID, _ departure: RegistrationDeparture) {
        departed[id] = departure
        departures.insert(id, at: departure.time)
    }

    private mutating func set(_ registration: Registration, at place: UInt32) {
        reserve(place)
        let old = rows[Int(place)]
        let oldExpiration = old?.expiration
        detach(place)
        index.update(place, from: old?.tags ?? [], to: registration.tags)
        rows[Int(place)] = registration
        places[registration.id] = place
        placesByHandle[registration.handle, default: []].insert(place)
        if case .browser(let endpoint, _, _) = registration.handle { placesByEndpoint[endpoint, default: []].insert(place) }
        departed[registration.id] = nil
        if let installation = registration.installationID {
            placesByInstallation[installation, default: []].insert(place)
        } else if oldExpiration != registration.expiration {
            expire(.registration(registration.id), at: registration.expiration)
        }
    }

    /// Takes a registration off the air. Its place stays taken until its removal is applied.
    private mutating func withdraw(_ removal: RemovedRegistration) {
        if let row = rows[Int(removal.place)] { index.remove(removal.place, tags: row.tags) }
        detach(removal.place)
        rows[Int(removal.place)] = nil
        lastOutcomes[Int(removal.place)] = nil
        places[removal.id] = nil
        depart(removal.id, removal.departure)
    }

    /// Takes the row at `place` out of every index but that over tags.
    private mutating func detach(_ place: UInt32) {
        guard let registration = rows[Int(place)] else { return }
        placesByHandle[registration.handle]?.remove(place)
        if placesByHandle[registration.handle]?.isEmpty == true { placesByHandle[registration.handle] = nil }
        if case .browser(let endpoint, _, _) = registration.handle {
            placesByEndpoint[endpoint]?.remove(place)
            if placesByEndpoint[endpoint]?.isEmpty == true { placesByEndpoint[endpoint] = nil }
        }
        if let installation = registration.installationID {
            placesByInstallation[installation]?.remove(place)
            if placesByInstallation[installation]?.isEmpty == true { placesByInstallation[installation] = nil }
        }
    }

    // MARK: - Reading

    /// Every tag in use, once: the index keeps the names of few.
    var tags: some Sequence<Tag> {
        rows.indices.lazy.flatMap { place in
            (rows[place]?.tags ?? []).filter { index.firstPlace(of: $0) == UInt32(place) }
        }
    }

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
        case .tag(let tag):
            guard let first = UInt32(exactly: first) else { return ([], nil) }
            return page(index.ids(of: tag, from: first, count: top + 1), top: top)
        case .handle(let handle):
            return page((placesByHandle[handle] ?? []).filter { $0 >= first }.sorted(), top: top)
        case .endpoint(let endpoint):
            return page((placesByEndpoint[endpoint] ?? []).filter { $0 >= first }.sorted(), top: top)
        }
    }

    /// The same of those that an expression names, of all for nil, and that are wanted.
    func page(
        _ expression: TagExpression?, behind place: UInt32?, top: Int, where isWanted: (Registration) -> Bool
    ) -> (found: [Registration], last: UInt32?) {
        let first = place.map { Int($0) + 1 } ?? 0
        guard let expression else {
            return page(rows.indices.dropFirst(first).lazy.map { UInt32($0) }, top: top, where: isWanted)
        }
        return page(index.select(expression).lazy.filter { $0 >= first }, top: top, where: isWanted)
    }

    private func page(
        _ places: some Sequence<UInt32>, top: Int, where isWanted: (Registration) -> Bool = { _ in true }
    ) -> (found: [Registration], last: UInt32?) {
        var found: [Registration] = []
        var last: UInt32?
        for place in places {
            guard let row = rows[Int(place)], isWanted(row) else { continue }
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
        in list: InstallationTable.List?, behind place: UInt32?, top: Int,
        where isWanted: (Installation) -> Bool = { _ in true }
    ) -> (found: [Installation], last: UInt32?) {
        installations.page(list, behind: place, top: top, where: isWanted)
    }

    // MARK: - Outcomes

    /// How the last push to a registration ended; nil before the first one.
    func lastOutcome(of id: RegistrationID) -> OutcomeName? { places[id].flatMap { lastOutcomes[Int($0)] } }

    /// Notes how a push ended. Answers the place where that is news.
    mutating func note(_ outcome: OutcomeName, of id: RegistrationID) -> UInt32? {
        guard let place = places[id], lastOutcomes[Int(place)] != outcome else { return nil }
        lastOutcomes[Int(place)] = outcome
        return place
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

    /// Takes what has expired by `now` off the air at once. The change that comes of it is still to be kept and applied.
    ///
    /// - Parameter isBusy: tells what is being changed just now; it is looked at again later.
    mutating func withdrawExpired(now: Timestamp, isBusy: (Expiring) -> Bool) -> RegistrationChange {
        var change = RegistrationChange()
        var busy: [Expiring] = []
        while let subject = expiries.popFirst(dueBy: now) {
            guard !isBusy(subject) else {
                busy.append(subject)
                continue
            }
            switch subject {
            case .registration(let id):
                guard let row = self[id], row.expiration <= now,
                    let removal = removal(of: id, because: RegistrationDeparture(.expired, at: now))
                else { continue }
                withdraw(removal)
                change.removals.append(removal)
            case .installation(let id):
                guard let stored = installations[id], stored.expiration <= now,
                    let removal = removal(ofInstallation: id, because: RegistrationDeparture(.expired, at: now))
                else { continue }
                for registration in removal.removals { withdraw(registration) }
                installations.withdraw(id)
                change.removals += removal.removals
                change.installationRemovals += removal.installationRemovals
            }
        }
        for subject in busy { expiries.insert(subject, at: now) }
        return change
    }

    /// Forgets that ids departed before `moment`.
    mutating func forgetDepartures(before moment: Timestamp) {
        while let first = departures.first, first.moment < moment {
            _ = departures.popFirst()
            if departed[first.subject]?.time == first.moment { departed[first.subject] = nil }
        }
    }
}
