/// A first-in, first-out queue. Adding and removing take amortised constant time.
///
/// Public and inlinable, because other modules specialise only such generic types.
public struct FIFOQueue<Element> {
    @usableFromInline var elements: [Element] = []
    /// Index of the first element that is still in the queue.
    @usableFromInline var start = 0

    @inlinable public init() {}

    @inlinable public var count: Int { elements.count - start }
    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var first: Element? { isEmpty ? nil : elements[start] }

    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    @inlinable public mutating func append(contentsOf others: some Sequence<Element>) { elements += others }

    @inlinable public func prefix(_ count: Int) -> ArraySlice<Element> { elements[start...].prefix(count) }

    @inlinable public mutating func next() -> Element? {
        guard let first else { return nil }
        removeFirst(1)
        return first
    }

    /// Removes and returns the first element that matches; nil if none does.
    @inlinable public mutating func removeFirst(where predicate: (Element) -> Bool) -> Element? {
        elements[start...].firstIndex(where: predicate).map { elements.remove(at: $0) }
    }

    @inlinable public mutating func removeFirst(_ count: Int) {
        start += count
        // Moves the rest once as many elements have gone as are left: amortised constant time.
        guard start * 2 >= elements.count else { return }
        elements.removeFirst(start)
        start = 0
    }
}

extension FIFOQueue: Sendable where Element: Sendable {}
