/// The hub's installations, on the air or not, and the lists that are asked for in pages.
struct InstallationTable: Sendable {
    /// An installation as it was last written, with the moment at which it leaves, which the hub may have chosen.
    struct Row: Sendable {
        var installation: Installation
        var expiration: Timestamp

        /// As it is shown.
        var dated: Installation {
            var dated = installation
            dated.expiration = expiration
            return dated
        }
    }

    enum List: Hashable, Sendable {
        case tag(Tag)
        case platform(Platform)
    }

    /// A freed place is used again. An installation keeps its place as long as it lives.
    private var rows: [Row?] = []
    private var free: [UInt32] = []
    private var places: [String: UInt32] = [:]
    private var lists: [List: PlaceList] = [:]

    var count: Int { places.count }

    /// In the order of their places.
    var all: some Sequence<Row> { rows.lazy.compactMap { $0 } }

    subscript(id: String) -> Row? { places[id].flatMap { rows[Int($0)] } }

    init() {}

    /// - Parameter taken: places where the store has what is not current.
    init(_ stored: [PlacedInstallation], taken: Set<UInt32> = []) {
        for placed in stored { set(placed) }
        while let last = taken.max(), rows.count <= Int(last) { rows.append(nil) }
        free = rows.indices.reversed().filter { rows[$0] == nil && !taken.contains(UInt32($0)) }.map { UInt32($0) }
    }

    func place(of id: String) -> UInt32? { places[id] }

    /// Where an installation stands or will stand.
    mutating func placed(_ installation: Installation, expiration: Timestamp) -> PlacedInstallation {
        PlacedInstallation(
            place: places[installation.id] ?? takePlace(), installation: installation, expiration: expiration)
    }

    private mutating func takePlace() -> UInt32 {
        if let freed = free.popLast() { return freed }
        rows.append(nil)
        return UInt32(rows.count - 1)
    }

    /// Gives back a place that was taken for an installation that did not come.
    mutating func giveBack(_ place: UInt32) {
        if rows[Int(place)] == nil { free.append(place) }
    }

    /// Answers what stood there before.
    @discardableResult
    mutating func set(_ placed: PlacedInstallation) -> Row? {
        while rows.count <= Int(placed.place) { rows.append(nil) }
        let old = rows[Int(placed.place)]
        rows[Int(placed.place)] = Row(installation: placed.installation, expiration: placed.expiration)
        places[placed.installation.id] = placed.place
        move(placed.place, from: old?.installation.lists ?? [], to: placed.installation.lists)
        return old
    }

    /// Takes an installation off every list. Its place stays taken until it is removed there.
    mutating func withdraw(_ id: String) {
        guard let place = places.removeValue(forKey: id) else { return }
        move(place, from: rows[Int(place)]?.installation.lists ?? [], to: [])
        rows[Int(place)] = nil
    }

    mutating func remove(at place: UInt32) {
        if let row = rows[Int(place)] { withdraw(row.installation.id) }
        free.append(place)
    }

    private mutating func move(_ place: UInt32, from old: Set<List>, to new: Set<List>) {
        for list in old.subtracting(new) {
            lists[list]?.remove(place)
            if lists[list]?.isEmpty == true { lists[list] = nil }
        }
        for list in new.subtracting(old) { lists[list, default: PlaceList()].insert(place) }
    }

    /// Up to `top` installations behind `place`, and the place of the last one when more follow; every list for nil.
    func page(
        _ list: List?, behind place: UInt32?, top: Int, where isWanted: (Installation) -> Bool = { _ in true }
    ) -> (found: [Installation], last: UInt32?) {
        guard place != .max else { return ([], nil) }
        let first = place.map { $0 + 1 } ?? 0
        guard let list else {
            return page(rows.indices.dropFirst(Int(first)).lazy.map { UInt32($0) }, top: top, isWanted)
        }
        return page(lists[list]?.from(first) ?? [], top: top, isWanted)
    }

    private func page(
        _ places: some Sequence<UInt32>, top: Int, _ isWanted: (Installation) -> Bool
    ) -> (found: [Installation], last: UInt32?) {
        var found: [Installation] = []
        var last: UInt32?
        for place in places {
            guard let row = rows[Int(place)], isWanted(row.installation) else { continue }
            if found.count == top { return (found, last) }
            found.append(row.dated)
            last = place
        }
        return (found, nil)
    }
}

extension Installation {
    /// Whether a tag names it: its own, one of a template or a tile, `$InstallationId:{…}` or `$UserId:{…}`.
    func isListed(under tag: Tag) -> Bool { lists.contains(.tag(tag)) }

    fileprivate var lists: Set<InstallationTable.List> {
        let addresses = [Tag(validating: "$InstallationId:{\(id)}"), userID.flatMap { Tag(validating: "$UserId:{\($0)}") }]
        let templates = templates.values + secondaryTiles.values.flatMap(\.templates.values)
        let tags =
            tags + secondaryTiles.values.flatMap(\.tags) + templates.flatMap { $0.tags ?? [] } + addresses.compactMap { $0 }
        return Set(tags.map { .tag($0) } + [.platform(handle.platform)])
    }
}
