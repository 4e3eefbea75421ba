/// A priority queue of subjects by time; for equal times, first in, first out. A binary heap.
///
/// Public and inlinable, because other modules specialise only such generic types.
public struct TimeQueue<Subject: Sendable>: Sendable {
    @usableFromInline struct Entry: Sendable {
        @usableFromInline let time: Timestamp
        @usableFromInline let serial: UInt64
        @usableFromInline let subject: Subject

        @inlinable init(time: Timestamp, serial: UInt64, subject: Subject) {
            (self.time, self.serial, self.subject) = (time, serial, subject)
        }

        @inlinable func precedes(_ other: Entry) -> Bool {
            time == other.time ? serial < other.serial : time < other.time
        }
    }

    @usableFromInline var heap: [Entry] = []
    @usableFromInline var serial: UInt64 = 0

    @inlinable public init() {}

    @inlinable public var count: Int { heap.count }
    @inlinable public var isEmpty: Bool { heap.isEmpty }
    @inlinable public var first: (time: Timestamp, subject: Subject)? { heap.first.map { ($0.time, $0.subject) } }

    @inlinable public mutating func insert(_ subject: Subject, at time: Timestamp) {
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

    @inlinable public mutating func popFirst() -> (time: Timestamp, subject: Subject)? {
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
    @inlinable public mutating func popFirst(dueBy now: Timestamp) -> Subject? {
        guard let first, first.time <= now else { return nil }
        return popFirst()?.subject
    }
}
