import Testing

@testable import Delivery

@Suite struct PushBodiesTests {
    /// The bytes that a connection reads with this capacity of its buffer.
    private func read(_ bodies: PushBodies, _ index: Int, capacity: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < bodies.size(index) {
            let part = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                guard let destination = buffer.baseAddress else { return }
                count = bodies.copy(index, from: bytes.count, to: destination, capacity: capacity)
            }
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    @Test(arguments: [("head ", " tail"), ("", " tail"), ("head ", ""), ("", "")])
    func `a body is read completely, however little room there is at a time`(head: String, tail: String) async {
        let parts = ["first", "", "the third, which is longer"]
        var bodies = PushBodies(head: Array(head.utf8), tail: Array(tail.utf8), capacity: 3, partSize: 8)
        for part in parts { bodies.append { $0 += part.utf8 } }
        for (index, part) in parts.enumerated() {
            let whole = Array((head + part + tail).utf8)
            #expect(bodies.body(index) == whole)
            #expect(bodies.size(index) == whole.count)
            for capacity in 1...(whole.count + 1) { #expect(read(bodies, index, capacity: capacity) == whole, "capacity \(capacity)") }
            await Task.yield()
        }
        let some = bodies.subset([2, 0])
        #expect([some.body(0), some.body(1)] == [bodies.body(2), bodies.body(0)])
    }

    @Test func `a shared body is that of every request`() {
        let bodies = PushBodies(shared: Array("the same".utf8))
        for capacity in 1...9 { #expect(read(bodies, 5, capacity: capacity) == Array("the same".utf8)) }
        #expect(bodies.subset([1]).body(0) == Array("the same".utf8))
    }
}
