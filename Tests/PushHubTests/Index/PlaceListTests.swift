import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct PlaceListTests {
    @Test func `A row list holds the same as a set, in order, after any insertions and removals`() {
        var random = SplitMix64(seed: 7)
        var list = RowList()
        var set: Set<UInt32> = []
        for _ in 0..<5000 {
            let place = UInt32.random(in: 0..<200, using: &random)
            if random.chance(50) {
                list.insert(place)
                set.insert(place)
            } else {
                list.remove(place)
                set.remove(place)
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
        for place: UInt32 in [.max, 0, .max, 0] { list.insert(place) }
        #expect(Array(list.from(0)) == [0, .max] && Array(list.from(.max)) == [.max])
        list.remove(5)
        list.remove(.max)
        #expect(Array(list.from(0)) == [0] && list.from(1).isEmpty)
    }
}
