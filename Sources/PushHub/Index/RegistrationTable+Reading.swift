import PushModel

// Finding rows.
extension RegistrationTable {
    /// A hash that distinguishes the registration in this row from others, stable across processes; never 0.
    func mark(at row: UInt32) -> UInt32 { columns.mark(at: row) }

    func handle(at row: UInt32) -> DeviceHandle { columns.handle(at: row) }

    /// A page of rows, and its last row if more follow.
    typealias RowPage = (found: [UInt32], last: UInt32?)

    /// The rows that match an expression (nil: all), ascending.
    func select(_ expression: TagExpression?) -> [UInt32] {
        let rows = index.select(expression)
        return indexed.isEmpty ? rows : rows.filter { columns.isLive($0) }
    }

    /// Up to `top` registrations after row `row`.
    ///
    /// A registration keeps its row, so paging during changes returns each registration that stays exactly once.
    func page(_ filter: RegistrationFilter, behind row: UInt32?, top: Int) -> RowPage {
        guard let first = Self.first(behind: row) else { return ([], nil) }
        switch filter {
        case .all: return page(first..<max(first, end), top: top)
        case .tag(let tag): return page(of: tag, from: first, top: top)
        case .handle(let handle): return page(rows(for: handle).filter { $0 >= first }, top: top)
        case .endpoint(let endpoint): return page(rows(forEndpoint: endpoint).from(first), top: top)
        }
    }

    /// A page of the rows that match an expression (nil: all) and satisfy `isIncluded`.
    func page(
        _ expression: TagExpression?, behind row: UInt32?, top: Int, where isIncluded: (UInt32) -> Bool
    ) -> RowPage {
        guard let first = Self.first(behind: row) else { return ([], nil) }
        guard let expression else { return page(first..<max(first, end), top: top, where: isIncluded) }
        return page(index.select(expression).lazy.filter { $0 >= first }, top: top, where: isIncluded)
    }

    static func first(behind row: UInt32?) -> UInt32? {
        guard let row else { return 0 }
        return row == .max ? nil : row + 1
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
        _ rows: some Sequence<UInt32>, top: Int, where isIncluded: (UInt32) -> Bool = { _ in true }
    ) -> RowPage {
        var found: [UInt32] = []
        for row in rows where columns.isLive(row) && isIncluded(row) {
            if found.count == top { return (found, found.last) }
            found.append(row)
        }
        return (found, nil)
    }
}
