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
    private var tombstones = TombstoneTable()
    /// Stored rows to delete: older rows of installations that were written to another row. Their rows stay taken.
    var leftovers = RegistrationChange()
    var expiries = ExpiryQueue()
    private(set) var count = 0
    /// Changes with every change of the registrations, so that outdated results of a lookup can be detected.
    private(set) var revision: UInt64 = 0

    var installationCount: Int { installations.count }
    /// End of the row range.
    var end: UInt32 { supply.end }

    init() {}

    func tombstone(of id: RegistrationID) -> RegistrationTombstone? { tombstones[id] }

    func row(of packed: PackedRegistrationID) -> UInt32? {
        ids.find(packed.hash) { columns.has(packed, at: $0) }
    }

    func row(of id: RegistrationID) -> UInt32? {
        let packed = PackedRegistrationID(id)
        return ids.find(RegistrationColumns.hash(of: id, packed)) { columns.has(id, packed, at: $0) }
    }

    func isStored(_ id: RegistrationID, at row: UInt32) -> Bool {
        columns.isLive(row) && columns.has(id, PackedRegistrationID(id), at: row)
    }

    /// The id of the registration in a row, which may have been removed.
    func id(at row: UInt32) -> RegistrationID { columns.id(at: row) }

    // MARK: - Changes

    /// A registration with its row, which is allocated if it is new.
    mutating func placed(_ registration: Registration) -> RegistrationRow {
        RegistrationRow(row: row(of: registration.id) ?? supply.allocate(), registration: registration)
    }

    func removal(of id: RegistrationID, because tombstone: RegistrationTombstone) -> RemovedRegistration? {
        row(of: id).map { RemovedRegistration(row: $0, id: id, tombstone: tombstone) }
    }

    /// The change that stores an installation with its registrations. Registrations that it no longer has are removed for the given reason.
    mutating func change(
        _ installation: Installation, as registrations: [Registration], expiration: Timestamp,
        tombstone: RegistrationTombstone
    ) -> RegistrationChange {
        let stored = Set(registrations.map(\.id))
        return RegistrationChange(
            removals: rows(ofInstallation: installation.id).map { id(at: $0) }.filter { !stored.contains($0) }
                .compactMap { removal(of: $0, because: tombstone) },
            puts: registrations.map { placed($0) },
            installationPuts: [installations.placed(installation, expiration: expiration)])
    }

    /// The change that removes an installation and its registrations; nil if there is no such installation.
    func removal(ofInstallation id: String, because tombstone: RegistrationTombstone) -> RegistrationChange? {
        guard let row = installations.row(of: id) else { return nil }
        return RegistrationChange(
            removals: rows(ofInstallation: id).map {
                RemovedRegistration(row: $0, id: self.id(at: $0), tombstone: tombstone)
            },
            installationRemovals: [row])
    }

    /// - Parameter rows: the registrations that the change replaces. If one is missing, its row stays taken: a new registration there
    ///   would be found by the old tags.
    mutating func apply(_ change: RegistrationChange, replacing rows: ReplacedRows) {
        for removal in change.removals {
            if columns.isLive(removal.row) { withdraw(removal) }
            unindex(removal.row, rows.tags[removal.row])
            if !indexed.contains(removal.row), supply.rest(removal.row) { columns.clear(removal.row) }
        }
        for row in change.installationRemovals { installations.remove(at: row, replacing: rows.installations[row]) }
        for placed in change.installationPuts { installations.set(placed, replacing: rows.installations[placed.row]) }
        for placed in change.puts { set(placed.registration, at: placed.row, replacing: rows.tags[placed.row]) }
    }

    /// Removes withdrawn rows from the index.
    mutating func unindex(_ rows: ReplacedRows) {
        for (row, tags) in rows.tags { unindex(row, tags) }
        for (row, installation) in rows.installations { installations.unindex(row, installation) }
    }

    private mutating func unindex(_ row: UInt32, _ tags: [Tag]?) {
        guard let tags, indexed.remove(row) != nil else { return }
        index.remove(row, tags: tags)
    }

    /// Frees the rows that the change allocated.
    mutating func abandon(_ change: RegistrationChange) {
        for placed in change.puts where !columns.isLive(placed.row) { supply.returnUnused(placed.row) }
        for placed in change.installationPuts { installations.returnUnused(placed.row) }
    }

    /// - Parameter tags: the current tags of this row.
    private mutating func set(_ registration: Registration, at row: UInt32, replacing tags: [Tag]?) {
        let outcome = columns.isLive(row) ? columns.traits[row].outcome : nil
        if columns.isLive(row) { detach(row) }
        enter(registration, at: row)
        columns.traits[row].outcome = outcome
        index.update(row, from: tags ?? [], to: registration.tags)
        indexed.remove(row)
        tombstones.remove(registration.id)
        if let installation = registration.installationID {
            expiries.clear(row)
            join(installation, row)
        } else {
            expire(row, at: registration.expiration)
        }
    }

    /// Enters a registration in all structures except the index and the expiry queue.
    private mutating func enter(_ registration: Registration, at row: UInt32) {
        let packed = PackedRegistrationID(registration.id)
        let template = templates.take(registration.template)
        registration.handle.withPackedBytes { bytes, isToken in
            enter(packed, packed == nil ? registration.id : nil, registration.platform, bytes, isToken: isToken, at: row)
        }
        columns.templates[row] = template
        columns.set(variables: registration.pushVariables, at: row)
    }

    /// - Parameter unusual: the id, if it does not fit the packed form.
    private mutating func enter(
        _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, _ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool,
        at row: UInt32
    ) {
        write(packed, unusual, platform, handle, isToken: isToken, at: row)
        enterID(row, columns.idHash(at: row))
        enterHandle(row, RegistrationColumns.hash(of: platform, handle)) { columns, other in
            columns.has(platform, handle, isToken: isToken, at: other)
        }
    }

    /// - Parameter unusual: the id, if it does not fit the packed form.
    private mutating func write(
        _ packed: PackedRegistrationID?, _ unusual: RegistrationID?, _ platform: Platform, _ handle: UnsafeRawBufferPointer, isToken: Bool,
        at row: UInt32
    ) {
        revision &+= 1
        columns.traits[row] = RegistrationTraits(platform: platform, shard: packed?.shard ?? RegistrationTraits.unusualShard)
        columns.set(unusual, packed, at: row)
        columns.set(handle, isToken: isToken, at: row)
        if platform == .browser, case .browser(let endpoint, _, _) = columns.handle(at: row) {
            rowsByEndpoint[endpoint, default: RowList()].insert(row)
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
        write(packed, unusual, row.handle.platform, handle, isToken: isToken, at: row.row)
        loadedRows.append(row.row)
        if loadedRows.count == Self.loadStep { enterLoaded() }
        columns.templates[row.row] = template
        if !row.pushVariables.isEmpty { columns.set(variables: row.pushVariables, at: row.row) }
        if let installation = row.installationID { join(installation, row.row) }
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
        for removal in leftovers.removals { tombstones.insert(removal.tombstone, of: removal.id) }
        supply = RowAllocator(end: end) { [columns] in columns.isLive($0) || taken.contains($0) }
    }

    /// Number of loaded rows that are entered into the hash tables together.
    private static let loadStep = 1 << 17

    /// Enters loaded rows into the hash tables.
    private mutating func enterLoaded() {
        guard !loadedRows.isEmpty else { return }
        let rows = loadedRows
        loadedRows = []
        if count == rows.count {
            ids.reserve(asFor: rows, below: expectedEnd)
            handles.reserve(asFor: rows, below: expectedEnd)
        }
        for (row, hash) in RowTable.inOrder(rows, hashOf: columns.idHash(at:)) { enterID(row, hash) }
        for (row, hash) in RowTable.inOrder(rows, hashOf: columns.handleHash(at:)) {
            enterHandle(row, hash) { columns, other in columns.haveSameHandle(row, other) }
        }
    }

    mutating func load(_ outcome: OutcomeName, at row: UInt32) {
        if columns.isLive(row) { columns.traits[row].outcome = outcome }
    }

    mutating func load(_ tombstone: RegistrationTombstone, of id: RegistrationID) {
        enterLoaded()
        if row(of: id) == nil { tombstones.insert(tombstone, of: id) }
    }

    // MARK: - Adding and removing

    // Closures capture `columns` only when a table grows, because capturing copies them.

    private mutating func enterID(_ row: UInt32, _ hash: UInt64) {
        if ids.isFull(for: row, hash) { ids.grow(for: row, hash) { [columns] in columns.idHash(at: $0) } }
        ids.insert(row, hash)
    }

    /// - Parameter isOthers: whether another row has the same handle.
    private mutating func enterHandle(_ row: UInt32, _ hash: UInt64, isOthers: (RegistrationColumns, UInt32) -> Bool) {
        if let other = handles.find(hash, where: { isOthers(columns, $0) }) {
            columns.link(row, behind: other)
        } else {
            enterHandle(row, hash)
        }
    }

    private mutating func enterHandle(_ row: UInt32, _ hash: UInt64) {
        if handles.isFull(for: row, hash) { handles.grow(for: row, hash) { [columns] in columns.handleHash(at: $0) } }
        handles.insert(row, hash)
    }

    private mutating func join(_ installation: String, _ row: UInt32) {
        columns.traits[row].isInstalled = true
        guard let owner = installations.row(of: installation) else {
            orphans[row] = installation
            return
        }
        columns.owners[row] = owner
        columns.siblings[row] = installations.first(of: owner)
        installations.setFirst(row, of: owner)
    }

    /// Withdraws a registration from use. Its row stays taken until the removal is applied, and its tags stay in the index until its
    /// stored row is known.
    private mutating func withdraw(_ removal: RemovedRegistration) {
        detach(removal.row)
        expiries.clear(removal.row)
        tombstones.insert(removal.tombstone, of: removal.id)
    }

    mutating func withdrawAll(_ removals: some Sequence<RemovedRegistration>) {
        for removal in removals { withdraw(removal) }
    }

    /// Removes the registration in `row` from all structures except the tag index.
    private mutating func detach(_ row: UInt32) {
        revision &+= 1
        let traits = columns.traits[row]
        ids.remove(row, columns.idHash(at: row)) { [columns] in columns.idHash(at: $0) }
        if traits.platform == .browser, case .browser(let endpoint, _, _) = columns.handle(at: row) {
            rowsByEndpoint[endpoint]?.remove(row)
            if rowsByEndpoint[endpoint]?.isEmpty == true { rowsByEndpoint[endpoint] = nil }
        }
        let (hash, other) = (columns.handleHash(at: row), columns.unlink(row))
        // The table contains one row per chain of rows with the same handle.
        if handles.find(hash, where: { $0 == row }) != nil {
            handles.remove(row, hash) { [columns] in columns.handleHash(at: $0) }
            if let other { enterHandle(other, hash) }
        }
        if traits.isInstalled { part(row) }
        templates.release(columns.templates[row])
        columns.templates[row] = TemplateRegister.none
        columns.traits[row].leave()
        indexed.insert(row)
        count -= 1
    }

    private mutating func part(_ row: UInt32) {
        guard orphans.removeValue(forKey: row) == nil else { return }
        let (owner, next) = (columns.owners[row], columns.siblings[row])
        var before = installations.first(of: owner)
        if before == row { return installations.setFirst(next, of: owner) }
        while before != .max, columns.siblings[before] != row { before = columns.siblings[before] }
        if before != .max { columns.siblings[before] = next }
    }

    /// Forgets ids that were removed before `time`.
    mutating func removeTombstones(before time: Timestamp) { tombstones.removeAll(before: time) }

    mutating func expire(_ row: UInt32, at time: Timestamp) {
        expiries.set(time, at: row)
        if expiries.isStale { expiries.renew(end: max(end, row + 1)) }
    }

    // MARK: - Finding rows

    /// The rows that match an expression (nil: all), ascending.
    func select(_ expression: TagExpression?) -> [UInt32] {
        let rows = index.select(expression)
        return indexed.isEmpty ? rows : rows.filter { columns.isLive($0) }
    }

    /// Rows with a handle, ascending.
    func rows(for handle: DeviceHandle) -> [UInt32] {
        handle.withPackedBytes { bytes, isToken in
            let hash = RegistrationColumns.hash(of: handle.platform, bytes)
            let one = handles.find(hash) { columns.has(handle.platform, bytes, isToken: isToken, at: $0) }
            return one.map { columns.sameHandleChain(of: $0).sorted() } ?? []
        }
    }

    /// Rows of a browser endpoint, ascending.
    func rows(forEndpoint endpoint: String) -> RowList { rowsByEndpoint[endpoint] ?? RowList() }

    /// Rows of an installation's registrations, ascending.
    func rows(ofInstallation id: String) -> [UInt32] {
        var rows = orphans.isEmpty ? [] : orphans.filter { $0.value == id }.map(\.key)
        if let owner = installations.row(of: id) {
            var next = installations.first(of: owner)
            while next != .max {
                rows.append(next)
                next = columns.siblings[next]
            }
        }
        return rows.sorted()
    }

    /// The installation that a registration belongs to, or belonged to when it was removed; nil for a standalone registration.
    func installationID(at row: UInt32) -> String? {
        guard columns.traits[row].isInstalled else { return nil }
        if let orphan = orphans[row] { return orphan }
        let owner = columns.owners[row]
        return owner == .max ? nil : installations.id(at: owner)
    }

    // MARK: - Outcomes

    /// Outcome of the last push to a registration; nil before the first one.
    func lastOutcome(of id: RegistrationID) -> OutcomeName? { row(of: id).flatMap { columns.traits[$0].outcome } }

    /// Records the outcome of a push while its run is in progress. Returns whether it differs from the previous one.
    mutating func note(_ outcome: OutcomeName, at row: UInt32) -> Bool {
        guard columns.isLive(row), columns.traits[row].outcome != outcome else { return false }
        columns.traits[row].outcome = outcome
        return true
    }

    // MARK: - Runs

    /// Begins a send run: rows freed from now on are not reused until it has ended.
    mutating func beginRun() -> Run {
        Run(registrations: supply.beginRun(), installations: installations.beginRun())
    }

    mutating func endRun(_ run: Run) {
        for row in supply.endRun(run.registrations) { columns.clear(row) }
        installations.endRun(run.installations)
    }

    struct Run: Sendable {
        fileprivate let registrations: UInt64
        fileprivate let installations: UInt64
    }
}
