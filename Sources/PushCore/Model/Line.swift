/// Who comes first goes first. Both ends take constant time, on the average.
struct Line<Element> {
    private var elements: [Element] = []
    /// What stands before is done with.
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func append(contentsOf others: some Sequence<Element>) { elements += others }

    func prefix(_ count: Int) -> ArraySlice<Element> { elements[start...].prefix(count) }

    mutating func next() -> Element? {
        guard let first else { return nil }
        removeFirst(1)
        return first
    }

    /// Takes the first of these out; nil where there is none.
    mutating func removeFirst(where isMeant: (Element) -> Bool) -> Element? {
        elements[start...].firstIndex(where: isMeant).map { elements.remove(at: $0) }
    }

    mutating func removeFirst(_ count: Int) {
        start += count
        // As much as is left has gone: moving that costs no more than its coming did.
        guard start * 2 >= elements.count else { return }
        elements.removeFirst(start)
        start = 0
    }
}

extension Line: Sendable where Element: Sendable {}
