import PushModel

/// A sorted list of distinct rows.
///
/// Finds a page by binary search. An insertion or removal moves the rows after it, four bytes each, which is faster than a tree up to
/// many millions of rows.
struct RowList: Sendable {
    private var rows: [UInt32] = []

    var isEmpty: Bool { rows.isEmpty }

    mutating func insert(_ row: UInt32) {
        let index = firstIndex(from: row)
        if index == rows.count || rows[index] != row { rows.insert(row, at: index) }
    }

    mutating func remove(_ row: UInt32) {
        let index = firstIndex(from: row)
        if index < rows.count, rows[index] == row { rows.remove(at: index) }
    }

    /// The rows from `row` on.
    func from(_ row: UInt32) -> ArraySlice<UInt32> { rows[firstIndex(from: row)...] }

    private func firstIndex(from row: UInt32) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle] < row { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
