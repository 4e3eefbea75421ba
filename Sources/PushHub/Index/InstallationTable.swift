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
    /// Installations stored by an older version whose id differs only in case from that of an installation in an earlier row. They do not
    /// have the tag `$InstallationId:{…}`.
    private(set) var conflicting: Set<UInt32> = []
    var expiries = ExpiryQueue()
    private(set) var count = 0
    private var end: UInt32 { supply.end }

    init() {}

    /// - Parameter taken: rows that are stored but unreadable or outdated.
    mutating func loaded(end: UInt32, taken: Set<UInt32>) {
        supply = RowAllocator(end: end) { [traits] in traits[$0] != nil || taken.contains($0) }
    }

    func row(of id: String) -> UInt32? { table.find(Self.hash(of: id)) { ids[$0] == id } }

    /// The id of the installation in a row, which may have been removed.
    func id(at row: UInt32) -> String { ids[row] }

    /// Whether the push service reported its channel as expired.
    func isExpired(_ row: UInt32) -> Bool { traits[row]?.isExpired == true }

    /// The id of another installation that has this tag, `$InstallationId:{…}` of the id `id`. Its channel may have expired.
    func otherOwner(of tag: Tag, besides id: String) -> String? {
        rows(of: tag).lazy.filter { !conflicting.contains($0) }.map { ids[$0] }.first { $0 != id }
    }

    /// The installations whose tag `$InstallationId:{…}` is `tag`, including conflicting ones, which do not have it.
    private func rows(of tag: Tag) -> [UInt32] {
        index.rows(of: tag).rows.filter { isLive($0) && (try? Tag.installation(ids[$0])) == tag }
    }

    /// Gives the tag `$InstallationId:{…}` only to the first row of those whose ids differ only in case.
    mutating func resolveConflict(of id: String) {
        guard let tag = try? Tag.installation(id), index.upperBound(.tag(tag)) > 1 else { return }
        let rows = rows(of: tag)
        guard rows.count > 1, let first = rows.min() else { return }
        conflicting.formUnion(rows)
        conflicting.remove(first)
    }

    private static func hash(of id: String) -> UInt64 { UInt64(bitPattern: Int64(id.hashValue)) }

    // MARK: - Registrations

    /// The row of its first registration; `UInt32.max` if there is none.
    func first(of row: UInt32) -> UInt32 { firsts[row] }

    mutating func setFirst(_ registration: UInt32, of row: UInt32) { firsts[row] = registration }

    // MARK: - Changes

    /// An installation with its row, which is allocated if it is new.
    mutating func placed(_ installation: Installation, expiration: Timestamp) -> InstallationRow {
        InstallationRow(
            row: row(of: installation.id) ?? supply.allocate(), installation: installation, expiration: expiration)
    }

    /// Frees a row that was allocated for an installation that was not stored.
    mutating func returnUnused(_ row: UInt32) {
        if !isLive(row) { supply.returnUnused(row) }
    }

    private func isLive(_ row: UInt32) -> Bool { traits[row] != nil && !left.contains(row) }

    /// - Parameter old: the installation in this row.
    mutating func set(_ placed: InstallationRow, replacing old: Installation?) {
        let (row, installation) = (placed.row, placed.installation)
        if isLive(row) { detach(row) }
        unindex(row, old)
        left.remove(row)
        ids[row] = installation.id
        traits[row] = Traits(platform: installation.handle.platform, isExpired: installation.isPushChannelExpired)
        let hash = Self.hash(of: installation.id)
        if table.isFull(for: row, hash) { table.grow(for: row, hash) { [ids] in Self.hash(of: ids[$0]) } }
        table.insert(row, hash)
        index.insert(row, tags: installation.lists)
        if conflicting.contains(row), let tag = try? Tag.installation(installation.id),
            otherOwner(of: tag, besides: installation.id) == nil
        {
            conflicting.remove(row)
        }
        expiries.set(placed.expiration, at: row)
        if expiries.isStale { expiries.renew(end: max(end, row + 1)) }
        count += 1
    }

    /// Withdraws an installation from use. Its row stays taken until it is removed.
    mutating func withdraw(_ row: UInt32) {
        detach(row)
        firsts.clear(row)
        expiries.clear(row)
        conflicting.remove(row)
        left.insert(row)
    }

    private mutating func detach(_ row: UInt32) {
        table.remove(row, Self.hash(of: ids[row])) { [ids] in Self.hash(of: ids[$0]) }
        indexed.insert(row)
        count -= 1
    }

    /// - Parameter old: the installation in this row; if nil, the row stays taken.
    mutating func remove(at row: UInt32, replacing old: Installation?) {
        if isLive(row) { withdraw(row) }
        unindex(row, old)
        if !indexed.contains(row), supply.rest(row) { release(row) }
    }

    mutating func unindex(_ row: UInt32, _ old: Installation?) {
        guard let old, indexed.remove(row) != nil else { return }
        index.remove(row, tags: old.lists)
    }

    private mutating func release(_ row: UInt32) {
        ids.clear(row)
        traits[row] = nil
        left.remove(row)
    }

    mutating func beginRun() -> UInt64 { supply.beginRun() }

    mutating func endRun(_ run: UInt64) {
        for row in supply.endRun(run) { release(row) }
    }

    // MARK: - Lists

    /// Up to `top` installations after row `row` with all of these tags and, if given, this platform; see
    /// ``RowPager``.
    func page(
        tagged tags: [Tag], on platform: Platform?, behind row: UInt32?, top: Int, where isIncluded: (UInt32) -> Bool = { _ in true }
    ) -> RowPage {
        guard let first = RowPager.first(behind: row) else { return ([], nil) }
        func page(_ rows: some Sequence<UInt32>) -> RowPage {
            var found: [UInt32] = []
            for row in rows where row >= first && isLive(row) {
                guard platform == nil || traits[row]?.platform == platform, isIncluded(row) else { continue }
                if found.count == top { return (found, found.last) }
                found.append(row)
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
