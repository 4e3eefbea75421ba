/// A first-in, first-out queue with constant-time operations.
struct Queue<Element> {
    private var items: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == items.count }

    mutating func append(_ element: Element) {
        items.append(element)
    }

    /// Puts an element back at the front.
    mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            items[head] = element
        } else {
            items.insert(element, at: 0)
        }
    }

    /// Moves the matching elements to the front. The order is otherwise unchanged.
    mutating func moveToFront(_ isFirst: (Element) -> Bool) {
        let waiting = items[head...].compactMap { $0 }
        items = waiting.filter(isFirst) + waiting.filter { !isFirst($0) }
        head = 0
    }

    mutating func popFirst() -> Element? {
        guard head < items.count else { return nil }
        let element = items[head]
        items[head] = nil
        head += 1
        if head == items.count {
            items.removeAll(keepingCapacity: head < 1024)
            head = 0
        } else if head > 1024, head * 2 > items.count {
            items.removeFirst(head)
            head = 0
        }
        return element
    }
}
