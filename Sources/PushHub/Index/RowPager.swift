import PushModel

/// A page of rows, and its last row if more follow.
typealias RowPage = (found: [UInt32], last: UInt32?)

/// Reads the rows of a table page by page.
///
/// A registration keeps its row, so paging during changes returns each registration that stays exactly once.
struct RowPager {
    let table: RegistrationTable

    /// Up to `top` registrations after row `row`.
    func page(_ filter: RegistrationFilter, behind row: UInt32?, top: Int) -> RowPage {
        guard let first = Self.first(behind: row) else { return ([], nil) }
        switch filter {
        case .all: return page(first..<max(first, table.end), top: top)
        case .tag(let tag): return page(of: tag, from: first, top: top)
        case .handle(let handle): return page(table.rows(for: handle).filter { $0 >= first }, top: top)
        case .endpoint(let endpoint): return page(table.rows(forEndpoint: endpoint).from(first), top: top)
        }
    }

    /// A page of the rows that match an expression (nil: all) and satisfy `isIncluded`.
    func page(
        _ expression: TagExpression?, behind row: UInt32?, top: Int, where isIncluded: (UInt32) -> Bool
    ) -> RowPage {
        guard let first = Self.first(behind: row) else { return ([], nil) }
        guard let expression else { return page(first..<max(first, table.end), top: top, where: isIncluded) }
        return page(table.index.select(expression).lazy.filter { $0 >= first }, top: top, where: isIncluded)
    }

    /// The row after a row, or the first one; nil after the last possible row.
    static func first(behind row: UInt32?) -> UInt32? {
        guard let row else { return 0 }
        return row == .max ? nil : row + 1
    }

    private func page(of tag: Tag, from first: UInt32, top: Int) -> RowPage {
        var (first, found): (UInt32, [UInt32]) = (first, [])
        while true {
            let more = table.index.ids(of: tag, from: first, count: top + 1)
            found += more.lazy.filter { table.columns.isLive($0) }
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
        for row in rows where table.columns.isLive(row) && isIncluded(row) {
            if found.count == top { return (found, found.last) }
            found.append(row)
        }
        return (found, nil)
    }
}
