/// The hub's live registrations and installations, immediately consistent, with the index over their tags: of each what sends and
/// look-ups need, in columns. Whole rows are read from the store, by their places.
///
/// A change is made in three steps, so that nobody sees what is not kept yet: it is put together here, which takes the places
/// it needs; the hub has it kept; then it is applied, or abandoned where it could not be kept. To apply it takes the rows that it
/// replaces, for their tags are not held here.
struct RegistrationTable: Sendable {
    enum Expiring: Sendable, Hashable {
        case registration(RegistrationID)
        case installation(String)
    }

    private(set) var columns = RegistrationColumns()
    private(set) var templates = TemplateRegister()
    /// Those of the store that are in no table yet.
    private var loadedPlaces: [UInt32] = []
    private var expectedEnd: UInt32 = 0
    private var ids = PlaceTable()
    private var handles = PlaceTable()
    /// A registration keeps its place as long as it lives.
    private var supply = PlaceSupply()
    /// Of browsers, whose handles are looked for without their keys.
    private var placesByEndpoint: [String: PlaceList] = [:]
    /// Registrations whose installation is not there: its id.
    private var orphans: [UInt32: String] = [:]
    var installations = InstallationTable()
    private(set) var index = AudienceIndex()
    /// Places that are off the air, and whose tags are in the index still.
    private(set) var indexed: Set<UInt32> = []
    /// Ids that are no longer usable: writing to them is answered with 410.
    private var departed: [RegistrationID: RegistrationDeparture] = [:]
    /// The same by their moments; one that is back, or left anew since, is passed over.
    private var departures = TimeQueue<RegistrationID>()
    /// What the store has and shall have no longer: rows of installations that were written anew elsewhere. Their places are taken.
    var leftovers = RegistrationChange()
    var expiries = ExpiryQueue()
    private(set) var count = 0

    var installationCount: Int { installations.count }
    /// Behind the last place.
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

    /// Of the registration that stands there, or stood there last.
    func id(at place: UInt32) -> RegistrationID { columns.id(at: place) }

    // MARK: - Changes

    /// Where a registration stands or will stand.
    mutating func placed(_ registration: Registration) -> PlacedRegistration {
        PlacedRegistration(place: place(of: registration.id) ?? supply.take(), registration: registration)
    }

    func removal(of id: RegistrationID, because departure: RegistrationDeparture) -> RemovedRegistration? {
        place(of: id).map { RemovedRegistration(place: $0, id: id, departure: departure) }
    }

    /// An installation with the registrations that stand for it; those that no longer do leave for the given reason.
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

    /// Nil where there is no such installation.
    func removal(ofInstallation id: String, because departure: RegistrationDeparture) -> RegistrationChange? {
        guard let place = installations.place(of: id) else { return nil }
        return RegistrationChange(
            removals: places(ofInstallation: id).map {
                RemovedRegistration(place: $0, id: self.id(at: $0), departure: departure)
            },
            installationRemovals: [place])
    }

    /// - Parameter rows: those that stand at the places of the change. A place that something stands at and whose row is missing
    ///   stays taken: it would be found by tags that are not its own.
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

    /// Takes what is off the air out of the index.
    mutating func unindex(_ rows: ReplacedRows) {
        for (place, tags) in rows.tags { unindex(place, tags) }
        for (place, installation) in rows.installations { installations.unindex(place, installation) }
    }

    private mutating func unindex(_ place: UInt32, _ tags: [Tag]?) {
        guard let tags, indexed.remove(place) != nil else { return }
        index.remove(place, tags: tags)
    }

    /// Gives back the places that the change took.
    mutating func abandon(_ change: RegistrationChange) {
        for placed in change.puts where !columns.isLive(placed.place) { supply.giveBack(placed.place) }
        for placed in change.installationPuts { installations.giveBack(placed.place) }
    }

    private mutating func depart(_ id: RegistrationID, _ departure: RegistrationDeparture) {
        departed[id] = departure
        departures.insert(id, at: departure.time)
    }

    /// - Parameter tags: of what stands there now.
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

    /// Enters a registration everywhere but in the index and among those that expire.
    private mutating func enter(_ registration: Registration, at place: UInt32) {
        let packed = PackedRegistrationID(registration.id)
        let template = templates.take(registration.template)
        registration.handle.withPackedBytes { bytes, isToken in
            enter(packed, packed == nil ? registration.id : nil, registration.platform, bytes, isToken: isToken, at: place)
        }
        columns.templates[place] = template
        columns.set(variables: registration.pushVariables, at: place)
    }

    /// - Parameter unusual: the id where it is not packed.
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

    /// - Parameter unusual: the id where it is not packed.
    private mutating func write(
        _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, _ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool,
        at place: UInt32
    ) {
        columns.traits[place] = RegistrationTraits(platform: platform, shard: packed?.shard ?? RegistrationTraits.unusualShard)
        columns.set(unusual, packed, at: place)
        columns.set(handle, isToken: isToken, at: place)
        if platform == .browser, case .browser(let endpoint, _, _) = columns.handle(at: place) {
            placesByEndpoint[endpoint, default: PlaceList()].insert(place)
        }
        count += 1
    }

    // MARK: - Loading

    /// What is to be loaded has places below `end`.
    mutating func expect(below end: UInt32) { expectedEnd = end }

    /// Enters a registration that a store has; its tags and when it leaves are still to come.
    ///
    /// - Parameters:
    ///   - handle: as packed.
    ///   - template: a number that was taken for it.
    mutating func load(
        _ row: StoredRegistration, _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, handle: UnsafeRawBufferPointer,
        isToken: Bool, template: UInt32
    ) {
        write(packed, unusual, row.platform, handle, isToken: isToken, at: row.place)
        loadedPlaces.append(row.place)
        if loadedPlaces.count == Self.loadStep { enterLoaded() }
        columns.templates[row.place] = template
        if !row.pushVariables.isEmpty { columns.set(variables: row.pushVariables, at: row.place) }
        if let installation = row.installationID { join(installation, row.place) }
    }

    mutating func loadTemplate(_ template: RegistrationTemplate?) -> UInt32 { templates.take(template) }

    /// Another registration has a template that was loaded.
    mutating func shareTemplate(_ number: UInt32) { templates.share(number) }

    /// - Parameters:
    ///   - index: over the tags of all.
    ///   - taken: places where the store has what cannot be read or is not current.
    mutating func loaded(_ index: AudienceIndex, end: UInt32, taken: Set<UInt32>) {
        enterLoaded()
        self.index = index
        for removal in leftovers.removals { depart(removal.id, removal.departure) }
        supply = PlaceSupply(end: end) { [columns] in columns.isLive($0) || taken.contains($0) }
    }

    /// Loaded registrations that are entered together.
    private static let loadStep = 1 << 17

    /// Enters what was loaded where it is looked for.
    private mutating func enterLoaded() {
        guard !loadedPlaces.isEmpty else { return }
        let places = loadedPlaces
        loadedPlaces = []
        if count == places.count {
            ids.reserve(asFor: places, below: expectedEnd)
            handles.reserve(asFor: places, below: expectedEnd)
        }
        for (place, hash) in PlaceTable.inOrder(places, hashOf: columns.idHash(at:)) { enterID(place, hash) }
        for (place, hash) in PlaceTable.inOrder(places, hashOf: columns.handleHash(at:)) {
            enterHandle(place, hash) { columns, other in columns.haveOneHandle(place, other) }
        }
    }

    mutating func load(_ outcome: OutcomeName, at place: UInt32) {
        if columns.isLive(place) { columns.traits[place].outcome = outcome }
    }

    mutating func load(_ departure: RegistrationDeparture, of id: RegistrationID) {
        enterLoaded()
        if place(of: id) == nil { depart(id, departure) }
    }

    // MARK: - Entering and leaving

    // The columns are copied only where a table grows.

    private mutating func enterID(_ place: UInt32, _ hash: UInt64) {
        if ids.isFull(for: place, hash) { ids.makeRoom(for: place, hash) { [columns] in columns.idHash(at: $0) } }
        ids.insert(place, hash)
    }

    /// - Parameter isOthers: whether another place has the same handle.
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

    /// Takes a registration off the air. Its place stays taken until its removal is applied, and its tags in the index until its row
    /// is known.
    private mutating func withdraw(_ removal: RemovedRegistration) {
        detach(removal.place)
        expiries.clear(removal.place)
        depart(removal.id, removal.departure)
    }

    mutating func withdrawAll(_ removals: some Sequence<RemovedRegistration>) {
        for removal in removals { withdraw(removal) }
    }

    /// Takes what stands at `place` out of all but the index over tags.
    private mutating func detach(_ place: UInt32) {
        let traits = columns.traits[place]
        ids.remove(place, columns.idHash(at: place)) { [columns] in columns.idHash(at: $0) }
        if traits.platform == .browser, case .browser(let endpoint, _, _) = columns.handle(at: place) {
            placesByEndpoint[endpoint]?.remove(place)
            if placesByEndpoint[endpoint]?.isEmpty == true { placesByEndpoint[endpoint] = nil }
        }
        let hash = columns.handleHash(at: place)
        let other = columns.unlink(place)
        // The table has one of each ring.
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

    /// Forgets that ids departed before `moment`.
    mutating func forgetDepartures(before moment: Timestamp) {
        while let first = departures.first, first.moment < moment {
            _ = departures.popFirst()
            if departed[first.subject]?.time == first.moment { departed[first.subject] = nil }
        }
    }

    // MARK: - Handles and installations

    /// Ascending.
    func places(for handle: DeviceHandle) -> [UInt32] {
        handle.withPackedBytes { bytes, isToken in
            let hash = RegistrationColumns.hash(of: handle.platform, bytes)
            let one = handles.find(hash) { columns.has(handle.platform, bytes, isToken: isToken, at: $0) }
            return one.map { columns.ring(of: $0).sorted() } ?? []
        }
    }

    /// Ascending.
    func places(forEndpoint endpoint: String) -> PlaceList { placesByEndpoint[endpoint] ?? PlaceList() }

    /// Ascending.
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

    /// The installation for which a registration stands, or stood when it left; nil for one that stands for itself.
    func installationID(at place: UInt32) -> String? {
        guard columns.traits[place].isInstalled else { return nil }
        if let orphan = orphans[place] { return orphan }
        let owner = columns.owners[place]
        return owner == .max ? nil : installations.id(at: owner)
    }

    // MARK: - Outcomes

    /// How the last push to a registration ended; nil before the first one.
    func lastOutcome(of id: RegistrationID) -> OutcomeName? { place(of: id).flatMap { columns.traits[$0].outcome } }

    /// Notes how a push to a place ended, as long as the run lasts that sent it. Answers whether that is news.
    mutating func note(_ outcome: OutcomeName, at place: UInt32) -> Bool {
        guard columns.isLive(place), columns.traits[place].outcome != outcome else { return false }
        columns.traits[place].outcome = outcome
        return true
    }

    // MARK: - Runs

    /// From now on no place that is freed is given to anybody else, until the run has ended.
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
