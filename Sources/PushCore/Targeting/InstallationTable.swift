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

    /// Answers what stood there before.
    @discardableResult
    mutating func put(_ row: Row) -> Row? {
        let place: UInt32
        if let known = places[row.installation.id] {
            place = known
        } else if let freed = free.popLast() {
            place = freed
        } else {
            place = UInt32(rows.count)
            rows.append(nil)
        }
        let old = rows[Int(place)]
        rows[Int(place)] = row
        places[row.installation.id] = place
        move(place, from: old?.installation.lists ?? [], to: row.installation.lists)
        return old
    }

    mutating func remove(_ id: String) {
        guard let place = places.removeValue(forKey: id) else { return }
        move(place, from: rows[Int(place)]?.installation.lists ?? [], to: [])
        rows[Int(place)] = nil
        free.append(place)
    }

    mutating func expireChannel(of id: String) {
        guard let place = places[id] else { return }
        rows[Int(place)]?.installation.isPushChannelExpired = true
    }

    private mutating func move(_ place: UInt32, from old: Set<List>, to new: Set<List>) {
        for list in old.subtracting(new) {
            lists[list]?.remove(place)
            if lists[list]?.isEmpty == true { lists[list] = nil }
        }
        for list in new.subtracting(old) { lists[list, default: PlaceList()].insert(place) }
    }

    /// Up to `top` installations behind `place`, and the place of the last one when more follow; every list for nil.
    func page(_ list: List?, behind place: UInt32?, top: Int) -> (found: [Installation], last: UInt32?) {
        guard place != .max else { return ([], nil) }
        let first = place.map { $0 + 1 } ?? 0
        guard let list else {
            return page(rows.indices.dropFirst(Int(first)).lazy.map { UInt32($0) }, top: top)
        }
        return page(lists[list]?.from(first) ?? [], top: top)
    }

    private func page(_ places: some Sequence<UInt32>, top: Int) -> (found: [Installation], last: UInt32?) {
        var found: [Installation] = []
        var last: UInt32?
        for place in places {
            guard let row = rows[Int(place)] else { continue }
            if found.count == top { return (found, last) }
            found.append(row.dated)
            last = place
        }
        return (found, nil)
    }
}

extension Installation {
    fileprivate var lists: Set<InstallationTable.List> {
        let addresses = [Tag(validating: "$InstallationId:{\(id)}"), userID.flatMap { Tag(validating: "$UserId:{\($0)}") }]
        let tags = self.tags + templates.values.flatMap { $0.tags ?? [] } + addresses.compactMap { $0 }
        return Set(tags.map { .tag($0) } + [.platform(handle.platform)])
    }
}
