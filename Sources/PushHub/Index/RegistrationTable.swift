import PushModel

/// The hub's live registrations and installations with the index over their tags, immediately consistent. Columns hold what sends and
/// lookups need; the store holds the full rows.
///
/// A change has three steps, so that unstored data is never visible: it is prepared here, which allocates its rows; the hub
/// stores it; then it is applied, or abandoned if it could not be stored. Applying it requires the rows that it replaces, because
/// their tags are not held here.
struct RegistrationTable: Sendable {
    private(set) var columns = RegistrationColumns()
    private(set) var templates = TemplateRegister()
    /// Loaded rows that are not in the hash tables yet.
    private var loadedRows: [UInt32] = []
    private var expectedEnd: UInt32 = 0
    private var ids = RowTable()
    private var handles = RowTable()
    /// A registration keeps its row until it is removed.
    private var supply = RowAllocator()
    /// Rows of browser registrations, which are looked up by endpoint without their keys.
    private var rowsByEndpoint: [String: RowList] = [:]
    /// Installation ids of registrations whose installation is missing.
    private var orphans: [UInt32: String] = [:]
    var installations = InstallationTable()
    private(set) var index = AudienceIndex()
    /// Rows withdrawn from use whose tags are still in the index.
    private(set) var indexed: Set<UInt32> = []
    /// Ids of removed registrations. Writing to them returns 410.
    private var departed: [RegistrationID: RegistrationDeparture] = [:]
    /// Removed ids by time. Entries of ids that were created or removed again since are ignored.
    private var departures = TimeQueue<RegistrationID>()
    /// Stored rows to delete: older rows of installations that were written to another row. Their rows stay taken.
    var leftovers = RegistrationChange()
    var expiries = ExpiryQueue()
    private(set) var count = 0
    /// Changes with every change of the registrations, so that what was found in the table can be told from what is outdated.
    private(set) var revision: UInt64 = 0

    var installationCount: Int { installations.count }
    /// End of the row range.
    var end: UInt32 { supply.end }

    init() {}

    func departure(of id: RegistrationID) -> RegistrationDeparture? { departed[id] }

    func place(of packed: PackedRegistrationID) -> UInt32? {
        ids.find(packed.hash) { columns.has(packed, at: $0) }
    }

    func place(of id: RegistrationID) -> UInt32? {
        let packed = PackedRegistrationID(id)
        return ids.find(RegistrationColumns.hash(of: id, packed)) { columns.has(id, packed, at: $0) }
    }

    func stands(_ id: RegistrationID, at place: UInt32) -> Bool {
        columns.isLive(place) && columns.has(id, PackedRegistrationID(id), at: place)
    }

    /// The id of the registration in a row, which may have been removed.
    func id(at place: UInt32) -> RegistrationID { columns.id(at: place) }

    // MARK: - Changes

    /// A registration with its row, which is allocated if it is new.
    mutating func placed(_ registration: Registration) -> RegistrationRow {
        RegistrationRow(place: place(of: registration.id) ?? supply.take(), registration: registration)
    }

    func removal(of id: RegistrationID, because departure: RegistrationDeparture) -> RemovedRegistration? {
        place(of: id).map { RemovedRegistration(place: $0, id: id, departure: departure) }
    }

    /// The change that stores an installation with its registrations. Registrations that it no longer has are removed for the given reason.
    mutating func change(
        _ installation: Installation, as registrations: [Registration], expiration: Timestamp,
        departure: RegistrationDeparture
    ) -> RegistrationChange {
        let kept = Set(registrations.map(\.id))
        return RegistrationChange(
            removals: places(ofInstallation: installation.id).map { id(at: $0) }.filter { !kept.contains($0) }
                .compactMap { removal(of: $0, because: departure) },
            puts: registrations.map { placed($0) },
            installationPuts: [installations.placed(installation, expiration: expiration)])
    }

    /// The change that removes an installation and its registrations; nil if there is no such installation.
    func removal(ofInstallation id: String, because departure: RegistrationDeparture) -> RegistrationChange? {
        guard let place = installations.place(of: id) else { return nil }
        return RegistrationChange(
            removals: places(ofInstallation: id).map {
                RemovedRegistration(place: $0, id: self.id(at: $0), departure: departure)
            },
            installationRemovals: [place])
    }

    /// - Parameter rows: the registrations that the change replaces. If one is missing, its row stays taken: a new registration there
    ///   would be found by the old tags.
    mutating func apply(_ change: RegistrationChange, replacing rows: ReplacedRows) {
        for removal in change.removals {
            if columns.isLive(removal.place) { withdraw(removal) }
            unindex(removal.place, rows.tags[removal.place])
            if !indexed.contains(removal.place), supply.rest(removal.place) { columns.clear(removal.place) }
        }
        for place in change.installationRemovals { installations.remove(at: place, replacing: rows.installations[place]) }
        for placed in change.installationPuts { installations.set(placed, replacing: rows.installations[placed.place]) }
        for placed in change.puts { set(placed.registration, at: placed.place, replacing: rows.tags[placed.place]) }
    }

    /// Removes withdrawn rows from the index.
    mutating func unindex(_ rows: ReplacedRows) {
        for (place, tags) in rows.tags { unindex(place, tags) }
        for (place, installation) in rows.installations { installations.unindex(place, installation) }
    }

    private mutating func unindex(_ place: UInt32, _ tags: [Tag]?) {
        guard let tags, indexed.remove(place) != nil else { return }
        index.remove(place, tags: tags)
    }

    /// Frees the rows that the change allocated.
    mutating func abandon(_ change: RegistrationChange) {
        for placed in change.puts where !columns.isLive(placed.place) { supply.giveBack(placed.place) }
        for placed in change.installationPuts { installations.giveBack(placed.place) }
    }

    private mutating func depart(_ id: RegistrationID, _ departure: RegistrationDeparture) {
        departed[id] = departure
        departures.insert(id, at: departure.time)
    }

    /// - Parameter tags: the current tags of this row.
    private mutating func set(_ registration: Registration, at place: UInt32, replacing tags: [Tag]?) {
        let outcome = columns.isLive(place) ? columns.traits[place].outcome : nil
        if columns.isLive(place) { detach(place) }
        enter(registration, at: place)
        columns.traits[place].outcome = outcome
        index.update(place, from: tags ?? [], to: registration.tags)
        indexed.remove(place)
        if !departed.isEmpty { departed[registration.id] = nil }
        if let installation = registration.installationID {
            expiries.clear(place)
            join(installation, place)
        } else {
            expire(place, at: registration.expiration)
        }
    }

    /// Enters a registration in all structures except the index and the expiry queue.
    private mutating func enter(_ registration: Registration, at place: UInt32) {
        let packed = PackedRegistrationID(registration.id)
        let template = templates.take(registration.template)
        registration.handle.withPackedBytes { bytes, isToken in
            enter(packed, packed == nil ? registration.id : nil, registration.platform, bytes, isToken: isToken, at: place)
        }
        columns.templates[place] = template
        columns.set(variables: registration.pushVariables, at: place)
    }

    /// - Parameter unusual: the id, if it does not fit the packed form.
    private mutating func enter(
        _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, _ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool,
        at place: UInt32
    ) {
        write(packed, unusual, platform, handle, isToken: isToken, at: place)
        enterID(place, columns.idHash(at: place))
        enterHandle(place, RegistrationColumns.hash(of: platform, handle)) { columns, other in
            columns.has(platform, handle, isToken: isToken, at: other)
        }
    }

    /// - Parameter unusual: the id, if it does not fit the packed form.
    private mutating func write(
        _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, _ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool,
        at place: UInt32
    ) {
        revision &+= 1
        columns.traits[place] = RegistrationTraits(platform: platform, shard: packed?.shard ?? RegistrationTraits.unusualShard)
        columns.set(unusual, packed, at: place)
        columns.set(handle, isToken: isToken, at: place)
        if platform == .browser, case .browser(let endpoint, _, _) = columns.handle(at: place) {
            rowsByEndpoint[endpoint, default: RowList()].insert(place)
        }
        count += 1
    }

    // MARK: - Loading

    /// Announces that the rows to load are below `end`.
    mutating func expect(below end: UInt32) { expectedEnd = end }

    /// Enters a stored registration. Its tags and expiry follow separately.
    ///
    /// - Parameters:
    ///   - handle: packed handle.
    ///   - template: template number that was acquired for it.
    mutating func load(
        _ row: StoredRegistration, _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, handle: UnsafeRawBufferPointer,
        isToken: Bool, template: UInt32
    ) {
        write(packed, unusual, row.handle.platform, handle, isToken: isToken, at: row.place)
        loadedRows.append(row.place)
        if loadedRows.count == Self.loadStep { enterLoaded() }
        columns.templates[row.place] = template
        if !row.pushVariables.isEmpty { columns.set(variables: row.pushVariables, at: row.place) }
        if let installation = row.installationID { join(installation, row.place) }
    }

    mutating func loadTemplate(_ template: RegistrationTemplate?) -> UInt32 { templates.take(template) }

    /// Adds a use of a template that is loaded already.
    mutating func shareTemplate(_ number: UInt32) { templates.share(number) }

    /// - Parameters:
    ///   - index: index over the tags of all rows.
    ///   - taken: rows that are stored but unreadable or outdated.
    mutating func loaded(_ index: AudienceIndex, end: UInt32, taken: Set<UInt32>) {
        enterLoaded()
        self.index = index
        for removal in leftovers.removals { depart(removal.id, removal.departure) }
        supply = RowAllocator(end: end) { [columns] in columns.isLive($0) || taken.contains($0) }
    }

    /// Number of loaded rows that are entered into the hash tables together.
    private static let loadStep = 1 << 17

    /// Enters loaded rows into the hash tables.
    private mutating func enterLoaded() {
        guard !loadedRows.isEmpty else { return }
        let places = loadedRows
        loadedRows = []
        if count == places.count {
            ids.reserve(asFor: places, below: expectedEnd)
            handles.reserve(asFor: places, below: expectedEnd)
        }
        for (place, hash) in RowTable.inOrder(places, hashOf: columns.idHash(at:)) { enterID(place, hash) }
        for (place, hash) in RowTable.inOrder(places, hashOf: columns.handleHash(at:)) {
            enterHandle(place, hash) { columns, other in columns.haveSameHandle(place, other) }
        }
    }

    mutating func load(_ outcome: OutcomeName, at place: UInt32) {
        if columns.isLive(place) { columns.traits[place].outcome = outcome }
    }

    mutating func load(_ departure: RegistrationDeparture, of id: RegistrationID) {
        enterLoaded()
        if place(of: id) == nil { depart(id, departure) }
    }

    // MARK: - Adding and removing

    // Closures capture `columns` only when a table grows, because capturing copies them.

    private mutating func enterID(_ place: UInt32, _ hash: UInt64) {
        if ids.isFull(for: place, hash) { ids.makeRoom(for: place, hash) { [columns] in columns.idHash(at: $0) } }
        ids.insert(place, hash)
    }

    /// - Parameter isOthers: whether another row has the same handle.
    private mutating func enterHandle(_ place: UInt32, _ hash: UInt64, isOthers: (RegistrationColumns, UInt32) -> Bool) {
        if let other = handles.find(hash, where: { isOthers(columns, $0) }) {
            columns.link(place, behind: other)
        } else {
            enterHandle(place, hash)
        }
    }

    private mutating func enterHandle(_ place: UInt32, _ hash: UInt64) {
        if handles.isFull(for: place, hash) { handles.makeRoom(for: place, hash) { [columns] in columns.handleHash(at: $0) } }
        handles.insert(place, hash)
    }

    private mutating func join(_ installation: String, _ place: UInt32) {
        columns.traits[place].isInstalled = true
        guard let owner = installations.place(of: installation) else {
            orphans[place] = installation
            return
        }
        columns.owners[place] = owner
        columns.siblings[place] = installations.first(of: owner)
        installations.setFirst(place, of: owner)
    }

    /// Withdraws a registration from use. Its row stays taken until the removal is applied, and its tags stay in the index until its
    /// stored row is known.
    private mutating func withdraw(_ removal: RemovedRegistration) {
        detach(removal.place)
        expiries.clear(removal.place)
        depart(removal.id, removal.departure)
    }

    mutating func withdrawAll(_ removals: some Sequence<RemovedRegistration>) {
        for removal in removals { withdraw(removal) }
    }

    /// Removes the registration in `place` from all structures except the tag index.
    private mutating func detach(_ place: UInt32) {
        revision &+= 1
        let traits = columns.traits[place]
        ids.remove(place, columns.idHash(at: place)) { [columns] in columns.idHash(at: $0) }
        if traits.platform == .browser, case .browser(let endpoint, _, _) = columns.handle(at: place) {
            rowsByEndpoint[endpoint]?.remove(place)
            if rowsByEndpoint[endpoint]?.isEmpty == true { rowsByEndpoint[endpoint] = nil }
        }
        let (hash, other) = (columns.handleHash(at: place), columns.unlink(place))
        // The table contains one row per ring.
        if handles.find(hash, where: { $0 == place }) != nil {
            handles.remove(place, hash) { [columns] in columns.handleHash(at: $0) }
            if let other { enterHandle(other, hash) }
        }
        if traits.isInstalled { part(place) }
        templates.release(columns.templates[place])
        columns.templates[place] = TemplateRegister.none
        columns.traits[place].leave()
        indexed.insert(place)
        count -= 1
    }

    private mutating func part(_ place: UInt32) {
        guard orphans.removeValue(forKey: place) == nil else { return }
        let (owner, next) = (columns.owners[place], columns.siblings[place])
        var before = installations.first(of: owner)
        if before == place { return installations.setFirst(next, of: owner) }
        while before != .max, columns.siblings[before] != place { before = columns.siblings[before] }
        if before != .max { columns.siblings[before] = next }
    }

    /// Forgets ids that were removed before `time`.
    mutating func forgetDepartures(before time: Timestamp) {
        while let first = departures.first, first.moment < time {
            _ = departures.popFirst()
            if departed[first.subject]?.time == first.moment { departed[first.subject] = nil }
        }
    }

    // MARK: - Handles and installations

    /// Rows with a handle, ascending.
    func places(for handle: DeviceHandle) -> [UInt32] {
        handle.withPackedBytes { bytes, isToken in
            let hash = RegistrationColumns.hash(of: handle.platform, bytes)
            let one = handles.find(hash) { columns.has(handle.platform, bytes, isToken: isToken, at: $0) }
            return one.map { columns.ring(of: $0).sorted() } ?? []
        }
    }

    /// Rows of a browser endpoint, ascending.
    func places(forEndpoint endpoint: String) -> RowList { rowsByEndpoint[endpoint] ?? RowList() }

    /// Rows of an installation's registrations, ascending.
    func places(ofInstallation id: String) -> [UInt32] {
        var places = orphans.isEmpty ? [] : orphans.filter { $0.value == id }.map(\.key)
        if let owner = installations.place(of: id) {
            var next = installations.first(of: owner)
            while next != .max {
                places.append(next)
                next = columns.siblings[next]
            }
        }
        return places.sorted()
    }

    /// The installation that a registration belongs to, or belonged to when it was removed; nil for a standalone registration.
    func installationID(at place: UInt32) -> String? {
        guard columns.traits[place].isInstalled else { return nil }
        if let orphan = orphans[place] { return orphan }
        let owner = columns.owners[place]
        return owner == .max ? nil : installations.id(at: owner)
    }

    // MARK: - Outcomes

    /// Outcome of the last push to a registration; nil before the first one.
    func lastOutcome(of id: RegistrationID) -> OutcomeName? { place(of: id).flatMap { columns.traits[$0].outcome } }

    /// Records the outcome of a push while its run is in progress. Returns whether it differs from the previous one.
    mutating func note(_ outcome: OutcomeName, at place: UInt32) -> Bool {
        guard columns.isLive(place), columns.traits[place].outcome != outcome else { return false }
        columns.traits[place].outcome = outcome
        return true
    }

    // MARK: - Runs

    /// Begins a send run: rows freed from now on are not reused until it has ended.
    mutating func beginRun() -> Run {
        Run(registrations: supply.beginRun(), installations: installations.beginRun())
    }

    mutating func endRun(_ run: Run) {
        for place in supply.endRun(run.registrations) { columns.clear(place) }
        installations.endRun(run.installations)
    }

    struct Run: Sendable {
        fileprivate let registrations: UInt64
        fileprivate let installations: UInt64
    }
}
