import PushModel

// Finding rows.
extension RegistrationTable {
    /// A hash that distinguishes the registration in this row from others, stable across processes; never 0.
    func mark(at place: UInt32) -> UInt32 { columns.mark(at: place) }

    func handle(at place: UInt32) -> DeviceHandle { columns.handle(at: place) }

    /// A page of rows, and its last row if more follow.
    typealias RowPage = (found: [UInt32], last: UInt32?)

    /// The rows that match an expression (nil: all), ascending.
    func select(_ expression: TagExpression?) -> [UInt32] {
        let places = index.select(expression)
        return indexed.isEmpty ? places : places.filter { columns.isLive($0) }
    }

    /// Up to `top` registrations after row `place`.
    ///
    /// A registration keeps its row, so paging during changes returns each registration that stays exactly once.
    func page(_ filter: RegistrationFilter, behind place: UInt32?, top: Int) -> RowPage {
        guard let first = Self.first(behind: place) else { return ([], nil) }
        switch filter {
        case .all: return page(first..<max(first, end), top: top)
        case .tag(let tag): return page(of: tag, from: first, top: top)
        case .handle(let handle): return page(places(for: handle).filter { $0 >= first }, top: top)
        case .endpoint(let endpoint): return page(places(forEndpoint: endpoint).from(first), top: top)
        }
    }

    /// A page of the rows that match an expression (nil: all) and satisfy `isWanted`.
    func page(
        _ expression: TagExpression?, behind place: UInt32?, top: Int, where isWanted: (UInt32) -> Bool
    ) -> RowPage {
        guard let first = Self.first(behind: place) else { return ([], nil) }
        guard let expression else { return page(first..<max(first, end), top: top, where: isWanted) }
        return page(index.select(expression).lazy.filter { $0 >= first }, top: top, where: isWanted)
    }

    static func first(behind place: UInt32?) -> UInt32? {
        guard let place else { return 0 }
        return place == .max ? nil : place + 1
    }

    private func page(of tag: Tag, from first: UInt32, top: Int) -> RowPage {
        var (first, found): (UInt32, [UInt32]) = (first, [])
        while true {
            let more = index.ids(of: tag, from: first, count: top + 1)
            found += more.lazy.filter { columns.isLive($0) }
            // Rows withdrawn from use leave space on the page: read on.
            guard found.count <= top, more.count > top, let last = more.last, let next = Self.first(behind: last) else { break }
            first = next
        }
        return page(found, top: top)
    }

    private func page(
        _ places: some Sequence<UInt32>, top: Int, where isWanted: (UInt32) -> Bool = { _ in true }
    ) -> RowPage {
        var found: [UInt32] = []
        for place in places where columns.isLive(place) && isWanted(place) {
            if found.count == top { return (found, found.last) }
            found.append(place)
        }
        return (found, nil)
    }
}
