/// The bodies of a batch. Either all requests share one body, or each has its own part between a common head and tail: the device token in
/// a message, or a whole message encrypted for one device.
package struct PushBodies: Sendable {
    private let head: [UInt8]
    private let tail: [UInt8]
    /// All parts, concatenated.
    private var parts: [UInt8] = []
    /// The end of each part; empty if the body is shared.
    private var ends: [Int] = []

    package init(shared body: [UInt8]) {
        (head, tail) = (body, [])
    }

    /// - Parameter capacity: Expected number of requests; `partSize` is the expected size of a part, in bytes.
    package init(head: [UInt8] = [], tail: [UInt8] = [], capacity: Int, partSize: Int) {
        (self.head, self.tail) = (head, tail)
        parts.reserveCapacity(capacity * partSize)
        ends.reserveCapacity(capacity)
    }

    mutating func append(_ part: (inout [UInt8]) -> Void) {
        part(&parts)
        ends.append(parts.count)
    }

    private func part(_ index: Int) -> Range<Int> {
        ends.isEmpty ? 0..<0 : (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// The size of a body, in bytes.
    func size(_ index: Int) -> Int { head.count + part(index).count + tail.count }

    func body(_ index: Int) -> [UInt8] { ends.isEmpty ? head : head + parts[part(index)] + tail }

    /// Copies the body from byte `start` on into `capacity` bytes, as far as it fits, and returns the number of bytes copied.
    @inline(__always)
    func copy(_ index: Int, from start: Int, to destination: UnsafeMutablePointer<UInt8>, capacity: Int) -> Int {
        let copied = Self.copy(head[...], from: start, to: destination, capacity: capacity)
        if ends.isEmpty { return copied }
        return copied + copyRest(index, from: start, behind: copied, to: destination, capacity: capacity)
    }

    private func copyRest(
        _ index: Int, from start: Int, behind copied: Int, to destination: UnsafeMutablePointer<UInt8>, capacity: Int
    ) -> Int {
        let (part, head) = (parts[part(index)], head.count)
        let own = Self.copy(part, from: max(0, start - head), to: destination + copied, capacity: capacity - copied)
        guard start + copied + own >= head + part.count else { return own }
        return own
            + Self.copy(
                tail[...], from: max(0, start - head - part.count), to: destination + copied + own, capacity: capacity - copied - own)
    }

    private static func copy(
        _ bytes: ArraySlice<UInt8>, from start: Int, to destination: UnsafeMutablePointer<UInt8>, capacity: Int
    ) -> Int {
        let count = min(capacity, bytes.count - start)
        guard count > 0 else { return 0 }
        bytes.withUnsafeBufferPointer { if let first = $0.baseAddress { destination.update(from: first + start, count: count) } }
        return count
    }

    /// The bodies of some requests, in the order of `indexes`.
    func subset(_ indexes: some Collection<Int>) -> PushBodies {
        guard !ends.isEmpty else { return self }
        var subset = PushBodies(head: head, tail: tail, capacity: indexes.count, partSize: 0)
        for index in indexes { subset.append { $0.append(contentsOf: parts[part(index)]) } }
        return subset
    }
}
