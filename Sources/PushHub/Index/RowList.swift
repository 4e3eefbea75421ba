import PushModel

/// A sorted list of distinct rows.
///
/// Finds a page by binary search. An insertion or removal moves the rows after it, four bytes each, which is faster than a tree up to
/// many millions of rows.
struct RowList: Sendable {
    private var places: [UInt32] = []

    var isEmpty: Bool { places.isEmpty }

    mutating func insert(_ place: UInt32) {
        let index = firstIndex(from: place)
        if index == places.count || places[index] != place { places.insert(place, at: index) }
    }

    mutating func remove(_ place: UInt32) {
        let index = firstIndex(from: place)
        if index < places.count, places[index] == place { places.remove(at: index) }
    }

    /// The rows from `place` on.
    func from(_ place: UInt32) -> ArraySlice<UInt32> { places[firstIndex(from: place)...] }

    private func firstIndex(from place: UInt32) -> Int {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
