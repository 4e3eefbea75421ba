/// A first-in, first-out queue. Adding and removing take amortised constant time.
package struct FIFOQueue<Element> {
    private var elements: [Element] = []
    /// Index of the first element that is still in the queue.
    private var start = 0

    package init() {}

    package var count: Int { elements.count - start }
    package var isEmpty: Bool { count == 0 }
    package var first: Element? { isEmpty ? nil : elements[start] }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func append(contentsOf others: some Sequence<Element>) { elements += others }

    package func prefix(_ count: Int) -> ArraySlice<Element> { elements[start...].prefix(count) }

    package mutating func next() -> Element? {
        guard let first else { return nil }
        removeFirst(1)
        return first
    }

    /// Removes and returns the first element that matches; nil if none does.
    package mutating func removeFirst(where predicate: (Element) -> Bool) -> Element? {
        elements[start...].firstIndex(where: predicate).map { elements.remove(at: $0) }
    }

    package mutating func removeFirst(_ count: Int) {
        start += count
        // Moves the rest once as many elements have gone as are left: amortised constant time.
        guard start * 2 >= elements.count else { return }
        elements.removeFirst(start)
        start = 0
    }
}

extension FIFOQueue: Sendable where Element: Sendable {}
