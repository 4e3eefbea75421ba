/// The elements of lists without duplicates, by path, so that a change costs time in proportion to the elements added, not to the list.
struct DistinctLists<Element: Hashable> {
    private var known: [[String]: Set<Element>] = [:]

    /// Appends the elements that the list does not contain.
    mutating func append(_ added: [Element], to list: inout [Element], at path: [String]) {
        change(list, at: path) { known in
            for element in added where known.insert(element).inserted { list.append(element) }
        }
    }

    /// Inserts the elements that the list does not contain before `index`, which is at most the list's end.
    mutating func insert(_ added: [Element], into list: inout [Element], at path: [String], before index: Int) {
        change(list, at: path) { known in
            list.insert(contentsOf: added.filter { known.insert($0).inserted }, at: index)
        }
    }

    /// Replaces an element with others; appends them if the list does not contain it.
    mutating func replace(_ element: Element?, with added: [Element], in list: inout [Element], at path: [String]) {
        change(list, at: path) { known in
            var index = list.endIndex
            if let element, known.remove(element) != nil, let found = list.firstIndex(of: element) {
                list.remove(at: found)
                index = found
            }
            list.insert(contentsOf: added.filter { known.insert($0).inserted }, at: index)
        }
    }

    /// Forgets the lists at this path and below, because they were changed elsewhere.
    ///
    /// - Parameter names: limits this to the lists below the path under these names; nil for all.
    mutating func forget(within path: [String], names: Set<String>? = nil) {
        known = known.filter { key, _ in
            guard key.starts(with: path) else { return true }
            return names.map { key.count > path.count && !$0.contains(key[path.count]) } ?? false
        }
    }

    private mutating func change(_ list: [Element], at path: [String], _ work: (inout Set<Element>) -> Void) {
        // Removed from the dictionary while it changes, so that it is not copied.
        var elements = known.removeValue(forKey: path) ?? Set(list)
        work(&elements)
        known[path] = elements
    }
}
