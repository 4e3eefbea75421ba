/// A priority queue of subjects by time; for equal times, first in, first out. A binary heap.
package struct TimeQueue<Subject: Sendable>: Sendable {
    private struct Entry: Sendable {
        let time: Timestamp
        let serial: UInt64
        let subject: Subject

        func precedes(_ other: Entry) -> Bool {
            time == other.time ? serial < other.serial : time < other.time
        }
    }

    private var heap: [Entry] = []
    private var serial: UInt64 = 0

    package init() {}

    package var count: Int { heap.count }
    package var isEmpty: Bool { heap.isEmpty }
    package var first: (time: Timestamp, subject: Subject)? { heap.first.map { ($0.time, $0.subject) } }

    package mutating func insert(_ subject: Subject, at time: Timestamp) {
        heap.append(Entry(time: time, serial: serial, subject: subject))
        serial += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    package mutating func popFirst() -> (time: Timestamp, subject: Subject)? {
        guard let last = heap.popLast() else { return nil }
        guard let first = heap.first else { return (last.time, last.subject) }
        heap[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { break }
            let right = left + 1
            let least = right < heap.count && heap[right].precedes(heap[left]) ? right : left
            guard heap[least].precedes(heap[parent]) else { break }
            heap.swapAt(least, parent)
            parent = least
        }
        return (first.time, first.subject)
    }

    /// Removes and returns the first subject whose time is at or before `now`.
    package mutating func popFirst(dueBy now: Timestamp) -> Subject? {
        guard let first, first.time <= now else { return nil }
        return popFirst()?.subject
    }
}
