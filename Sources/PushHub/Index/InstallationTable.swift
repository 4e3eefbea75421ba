import PushModel

/// The hub's installations, live or withdrawn: ids, expiry times, rows of their registrations, and an index over their list tags. The
/// store holds the full documents, by row.
struct InstallationTable: Sendable {
    /// Properties of an installation, packed into one byte.
    private struct Traits: Sendable {
        var platform: Platform
        /// Whether the push service reported its channel as expired.
        var isExpired: Bool
    }

    private var traits = RowColumn<Traits?>(vacant: nil)
    private var ids = InstallationIDs()
    /// The row of each installation's first registration.
    private var firsts = RowColumn<UInt32>(vacant: .max)
    private var table = RowTable()
    private var supply = RowAllocator()
    private var index = AudienceIndex()
    /// Rows withdrawn from use whose list tags are still in the index.
    private(set) var indexed: Set<UInt32> = []
    /// Rows withdrawn from use that cannot be reused yet.
    private var left: Set<UInt32> = []
    var expiries = ExpiryQueue()
    private(set) var count = 0
    private var end: UInt32 { supply.end }

    init() {}

    /// - Parameter taken: rows that are stored but unreadable or outdated.
    mutating func loaded(end: UInt32, taken: Set<UInt32>) {
        supply = RowAllocator(end: end) { [traits] in traits[$0] != nil || taken.contains($0) }
    }

    func place(of id: String) -> UInt32? { table.find(Self.hash(of: id)) { ids[$0] == id } }

    /// The id of the installation in a row, which may have been removed.
    func id(at place: UInt32) -> String { ids[place] }

    /// Whether the push service reported its channel as expired.
    func isExpired(_ place: UInt32) -> Bool { traits[place]?.isExpired == true }

    private static func hash(of id: String) -> UInt64 { UInt64(bitPattern: Int64(id.hashValue)) }

    // MARK: - Registrations

    /// The row of its first registration; `UInt32.max` if there is none.
    func first(of place: UInt32) -> UInt32 { firsts[place] }

    mutating func setFirst(_ registration: UInt32, of place: UInt32) { firsts[place] = registration }

    // MARK: - Changes

    /// An installation with its row, which is allocated if it is new.
    mutating func placed(_ installation: Installation, expiration: Timestamp) -> InstallationRow {
        InstallationRow(
            place: place(of: installation.id) ?? supply.take(), installation: installation, expiration: expiration)
    }

    /// Frees a row that was allocated for an installation that was not stored.
    mutating func giveBack(_ place: UInt32) {
        if !isLive(place) { supply.giveBack(place) }
    }

    private func isLive(_ place: UInt32) -> Bool { traits[place] != nil && !left.contains(place) }

    /// - Parameter old: the installation in this row.
    mutating func set(_ placed: InstallationRow, replacing old: Installation?) {
        let (place, installation) = (placed.place, placed.installation)
        if isLive(place) { detach(place) }
        unindex(place, old)
        left.remove(place)
        ids[place] = installation.id
        traits[place] = Traits(platform: installation.handle.platform, isExpired: installation.isPushChannelExpired)
        let hash = Self.hash(of: installation.id)
        if table.isFull(for: place, hash) { table.makeRoom(for: place, hash) { [ids] in Self.hash(of: ids[$0]) } }
        table.insert(place, hash)
        index.insert(place, tags: installation.lists)
        expiries.set(placed.expiration, at: place)
        if expiries.isStale { expiries.renew(end: max(end, place + 1)) }
        count += 1
    }

    /// Withdraws an installation from use. Its row stays taken until it is removed.
    mutating func withdraw(_ place: UInt32) {
        detach(place)
        firsts.clear(place)
        expiries.clear(place)
        left.insert(place)
    }

    private mutating func detach(_ place: UInt32) {
        table.remove(place, Self.hash(of: ids[place])) { [ids] in Self.hash(of: ids[$0]) }
        indexed.insert(place)
        count -= 1
    }

    /// - Parameter old: the installation in this row; if nil, the row stays taken.
    mutating func remove(at place: UInt32, replacing old: Installation?) {
        if isLive(place) { withdraw(place) }
        unindex(place, old)
        if !indexed.contains(place), supply.rest(place) { release(place) }
    }

    mutating func unindex(_ place: UInt32, _ old: Installation?) {
        guard let old, indexed.remove(place) != nil else { return }
        index.remove(place, tags: old.lists)
    }

    private mutating func release(_ place: UInt32) {
        ids.clear(place)
        traits[place] = nil
        left.remove(place)
    }

    mutating func beginRun() -> UInt64 { supply.beginRun() }

    mutating func endRun(_ run: UInt64) {
        for place in supply.endRun(run) { release(place) }
    }

    // MARK: - Lists

    /// Up to `top` installations after row `place` with all of these tags and, if given, this platform; see
    /// `RegistrationTable.page`.
    func page(
        tagged tags: [Tag], on platform: Platform?, behind place: UInt32?, top: Int, where isWanted: (UInt32) -> Bool = { _ in true }
    ) -> RegistrationTable.RowPage {
        guard let first = RegistrationTable.first(behind: place) else { return ([], nil) }
        func page(_ places: some Sequence<UInt32>) -> RegistrationTable.RowPage {
            var found: [UInt32] = []
            for place in places where place >= first && isLive(place) {
                guard platform == nil || traits[place]?.platform == platform, isWanted(place) else { continue }
                if found.count == top { return (found, found.last) }
                found.append(place)
            }
            return (found, nil)
        }
        return tags.isEmpty ? page(first..<max(first, end)) : page(index.select(.and(tags.map { .tag($0) })))
    }
}

extension Installation {
    /// The tags by which it can be listed: its own, those of templates and tiles, `$InstallationId:{…}` and `$UserId:{…}`.
    var lists: [Tag] {
        let addresses = [Tag(validating: "$InstallationId:{\(id)}"), userID.flatMap { Tag(validating: "$UserId:{\($0)}") }]
        return (ownTags + addresses.compactMap { $0 }).uniqued()
    }

    /// The tags that the app assigned: to the installation, its templates and its tiles.
    var ownTags: [Tag] {
        let templates = templates.values + secondaryTiles.values.flatMap(\.templates.values)
        return tags + secondaryTiles.values.flatMap(\.tags) + templates.flatMap { $0.tags ?? [] }
    }
}
