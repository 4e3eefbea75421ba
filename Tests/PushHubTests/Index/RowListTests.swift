import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct RowListTests {
    @Test func `A row list holds the same as a set, in order, after any insertions and removals`() {
        var random = SplitMix64(seed: 7)
        var list = RowList()
        var set: Set<UInt32> = []
        for _ in 0..<5000 {
            let row = UInt32.random(in: 0..<200, using: &random)
            if random.chance(50) {
                list.insert(row)
                set.insert(row)
            } else {
                list.remove(row)
                set.remove(row)
            }
            #expect(list.isEmpty == set.isEmpty)
            let from = UInt32.random(in: 0..<220, using: &random)
            guard Array(list.from(from)) == set.filter({ $0 >= from }).sorted() else {
                Issue.record("from \(from): \(Array(list.from(from)))")
                return
            }
        }
    }

    @Test func `The first and the last row number are valid`() {
        var list = RowList()
        for row: UInt32 in [.max, 0, .max, 0] { list.insert(row) }
        #expect(Array(list.from(0)) == [0, .max] && Array(list.from(.max)) == [.max])
        list.remove(5)
        list.remove(.max)
        #expect(Array(list.from(0)) == [0] && list.from(1).isEmpty)
    }
}
