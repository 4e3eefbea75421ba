/// The hub's installations, on the air or not, with the index over their lists: their ids, their expiry and the places of their
/// registrations. Whole documents are read from the store, by their places.
struct InstallationTable: Sendable {
    /// What is known of an installation in a byte.
    private struct Traits: Sendable {
        var platform: Platform
        /// The push service has called its channel dead.
        var isExpired: Bool
    }

    private var traits = PlaceColumn<Traits?>(vacant: nil)
    private var ids = InstallationIDs()
    /// The first registration of each.
    private var firsts = PlaceColumn<UInt32>(vacant: .max)
    private var table = PlaceTable()
    private var supply = PlaceSupply()
    private var index = AudienceIndex()
    /// Places that are off the air, and whose lists are in the index still.
    private(set) var indexed: Set<UInt32> = []
    /// Places that are off the air and not free yet.
    private var left: Set<UInt32> = []
    var expiries = ExpiryQueue()
    private(set) var count = 0
    private var end: UInt32 { supply.end }

    init() {}

    /// - Parameter taken: places where the store has what cannot be read or is not current.
    mutating func loaded(end: UInt32, taken: Set<UInt32>) {
        supply = PlaceSupply(end: end) { [traits] in traits[$0] != nil || taken.contains($0) }
    }

    func place(of id: String) -> UInt32? { table.find(Self.hash(of: id)) { ids[$0] == id } }

    /// Of the installation that stands there, or stood there last.
    func id(at place: UInt32) -> String { ids[place] }

    /// Whether the push service has called its channel dead.
    func isExpired(_ place: UInt32) -> Bool { traits[place]?.isExpired == true }

    private static func hash(of id: String) -> UInt64 { UInt64(bitPattern: Int64(id.hashValue)) }

    // MARK: - Registrations

    /// The place of its first registration; `UInt32.max` where it has none.
    func first(of place: UInt32) -> UInt32 { firsts[place] }

    mutating func setFirst(_ registration: UInt32, of place: UInt32) { firsts[place] = registration }

    // MARK: - Changes

    /// Where an installation stands or will stand.
    mutating func placed(_ installation: Installation, expiration: Timestamp) -> PlacedInstallation {
        PlacedInstallation(
            place: place(of: installation.id) ?? supply.take(), installation: installation, expiration: expiration)
    }

    /// Gives back a place that was taken for an installation that did not come.
    mutating func giveBack(_ place: UInt32) {
        if !isLive(place) { supply.giveBack(place) }
    }

    private func isLive(_ place: UInt32) -> Bool { traits[place] != nil && !left.contains(place) }

    /// - Parameter old: what stands there now.
    mutating func set(_ placed: PlacedInstallation, replacing old: Installation?) {
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

    /// Takes an installation off the air. Its place stays taken until it is removed there.
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

    /// - Parameter old: what stands there now; where it is not known the place stays taken.
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

    /// Up to `top` installations with all of these tags, of a platform where one is given, behind `place`; see
    /// `RegistrationTable.page`.
    func page(
        tagged tags: [Tag], on platform: Platform?, behind place: UInt32?, top: Int, where isWanted: (UInt32) -> Bool = { _ in true }
    ) -> RegistrationTable.PlacePage {
        guard let first = RegistrationTable.first(behind: place) else { return ([], nil) }
        func page(_ places: some Sequence<UInt32>) -> RegistrationTable.PlacePage {
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
    /// The tags under which it is listed: its own, those of a template or a tile, `$InstallationId:{…}` and `$UserId:{…}`.
    var lists: [Tag] {
        let addresses = [Tag(validating: "$InstallationId:{\(id)}"), userID.flatMap { Tag(validating: "$UserId:{\($0)}") }]
        return (ownTags + addresses.compactMap { $0 }).uniqued()
    }

    /// Those that its app gave it: its own, and those of its templates and tiles.
    var ownTags: [Tag] {
        let templates = templates.values + secondaryTiles.values.flatMap(\.templates.values)
        return tags + secondaryTiles.values.flatMap(\.tags) + templates.flatMap { $0.tags ?? [] }
    }
}
