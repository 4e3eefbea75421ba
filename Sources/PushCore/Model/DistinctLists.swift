/// What lists without repetitions have, by the places where they stand, so that a change costs what comes in and not what is there.
struct DistinctLists<Element: Hashable> {
    private var known: [[String]: Set<Element>] = [:]

    /// Appends what the list does not have yet.
    mutating func append(_ added: [Element], to list: inout [Element], at place: [String]) {
        change(list, at: place) { known in
            for element in added where known.insert(element).inserted { list.append(element) }
        }
    }

    /// Inserts what the list does not have yet before an index, which is at most its end.
    mutating func insert(_ added: [Element], into list: inout [Element], at place: [String], before index: Int) {
        change(list, at: place) { known in
            list.insert(contentsOf: added.filter { known.insert($0).inserted }, at: index)
        }
    }

    /// Puts others in the place of an element, at the end where it is not there.
    mutating func replace(_ element: Element?, with added: [Element], in list: inout [Element], at place: [String]) {
        change(list, at: place) { known in
            var index = list.endIndex
            if let element, known.remove(element) != nil, let found = list.firstIndex(of: element) {
                list.remove(at: found)
                index = found
            }
            list.insert(contentsOf: added.filter { known.insert($0).inserted }, at: index)
        }
    }

    /// Lists at this place and within it have been written by somebody else.
    ///
    /// - Parameter names: of those within it, where it was not all of them.
    mutating func forget(within place: [String], names: Set<String>? = nil) {
        known = known.filter { key, _ in
            guard key.starts(with: place) else { return true }
            return names.map { key.count > place.count && !$0.contains(key[place.count]) } ?? false
        }
    }

    private mutating func change(_ list: [Element], at place: [String], _ work: (inout Set<Element>) -> Void) {
        // Taken out meanwhile, so that it is not copied.
        var elements = known.removeValue(forKey: place) ?? Set(list)
        work(&elements)
        known[place] = elements
    }
}
