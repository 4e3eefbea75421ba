import PushRuntime

/// A table with a header row.
struct TextTable {
    struct Column {
        let title: String
        /// Whether the column is right-aligned.
        var isNumber = false
    }

    let columns: [Column]
    private(set) var rows: [[String]] = []

    /// A title that begins with `#` makes a number column.
    init(_ titles: String...) {
        columns = titles.map { $0.hasPrefix("#") ? Column(title: String($0.dropFirst()), isNumber: true) : Column(title: $0) }
    }

    mutating func add(_ cells: String...) { rows.append(cells.map(\.printable)) }

    func lines(_ palette: Palette) -> [String] {
        let widths = columns.indices.map { index in
            ([columns[index].title] + rows.map { $0[index] }).map(\.columnCount).max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (index, cell) in cells.enumerated() {
                let gap = String(repeating: " ", count: widths[index] - cell.columnCount)
                text += (index > 0 ? "  " : "") + (columns[index].isNumber ? gap + cell : cell + gap)
            }
            while text.last == " " { text.removeLast() }
            return text
        }
        return [palette.dim(line(columns.map(\.title)))] + rows.map(line)
    }
}

extension String {
    /// Width in terminal columns.
    fileprivate var columnCount: Int { reduce(0) { $0 + $1.columns } }
}
