/// Places of a table in ascending order, each once.
///
/// A page is found by bisection. A change moves what stands behind it, four bytes a place: cheaper than a tree up to many
/// millions.
struct PlaceList: Sendable {
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

    /// Everything from `place` on.
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
