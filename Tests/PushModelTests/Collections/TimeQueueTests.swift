import Support
import Testing

@testable import PushModel

@Suite struct TimeQueueTests {
    @Test("Subjects are in the order of their times, and of insertion if these are equal") func order() {
        let random = SeededRandom(seed: 7)
        var queue = TimeQueue<Int>()
        var expected: [(time: Int64, number: Int)] = []
        for number in 0..<500 {
            let time = Int64(random.next() % 40)
            queue.insert(number, at: Timestamp(milliseconds: time))
            expected.append((time, number))
        }
        expected.sort { ($0.time, $0.number) < ($1.time, $1.number) }
        var found: [Int] = []
        while let (_, number) = queue.popFirst() { found.append(number) }
        #expect(found == expected.map(\.number))
        #expect(queue.isEmpty)
    }

    @Test("Only due subjects are removed") func due() {
        var queue = TimeQueue<String>()
        queue.insert("later", at: Timestamp(milliseconds: 11))
        queue.insert("now", at: Timestamp(milliseconds: 10))
        #expect(queue.popFirst(dueBy: Timestamp(milliseconds: 9)) == nil)
        #expect(queue.popFirst(dueBy: Timestamp(milliseconds: 10)) == "now")
        #expect(queue.popFirst(dueBy: Timestamp(milliseconds: 10)) == nil)
        #expect(queue.count == 1)
    }
}
