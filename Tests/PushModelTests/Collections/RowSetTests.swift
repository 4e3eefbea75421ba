import Support
import Testing

@testable import PushModel

@Suite struct RowSetTests {
    @Test func `A row set holds the same elements as a Set, and copies are independent`() {
        var random = SplitMix64(seed: 11)
        var (rows, set): (RowSet, Set<UInt32>) = (RowSet(), [])
        var copies: [(RowSet, Set<UInt32>)] = []
        for turn in 0..<4000 {
            let row = UInt32.random(in: 0..<400, using: &random) * 331
            if random.chance(60) {
                #expect(rows.insert(row) == set.insert(row).inserted)
            } else {
                #expect(rows.remove(row) == (set.remove(row) != nil))
            }
            #expect(rows.contains(row) == set.contains(row) && rows.count == set.count)
            if turn % 500 == 0 { copies.append((rows, set)) }
            if turn % 900 == 0 { rows.compact() }
        }
        for (rows, set) in copies + [(rows, set)] {
            #expect(rows.rows == set.sorted() && rows.isEmpty == set.isEmpty && rows == RowSet(set.sorted().reversed()))
        }
    }

    @Test func `Set operations give the right result and leave a shared operand unchanged`() {
        let (evens, threes) = (RowSet((0..<40_000).map { $0 * 2 }), RowSet((0..<30_000).map { $0 * 3 }))
        let (even, three) = (Set(evens.rows), Set(threes.rows))
        for isShared in [true, false] {
            for (name, operation, expected) in [
                ("intersection", { $0.formIntersection($1) }, even.intersection(three)),
                ("union", { $0.formUnion($1) }, even.union(three)), ("difference", { $0.subtract($1) }, even.subtracting(three)),
            ] as [(String, (inout RowSet, RowSet) -> Void, Set<UInt32>)] {
                var set = isShared ? evens : RowSet(evens.rows)
                operation(&set, threes)
                #expect(set.rows == expected.sorted() && set.count == expected.count, "\(name)")
            }
        }
        #expect(Set(evens.rows) == even && Set(threes.rows) == three)
        let all = RowSet.union([evens, threes, RowSet(), RowSet([1, 200_000])])
        #expect(all.rows == even.union(three).union([1, 200_000]).sorted())
        #expect(RowSet.union([]).isEmpty && RowSet.union([evens]) == evens)
    }

    @Test func `Counting common rows agrees with the intersection`() {
        let (evens, threes) = (RowSet((0..<70_000).map { 2 * $0 }), RowSet((0..<70_000).map { 3 * $0 }))
        var both = evens
        both.formIntersection(threes)
        #expect(evens.countCommon(threes) == both.count && threes.countCommon(evens) == both.count && both.count > 20_000)
        #expect(evens.countCommon(RowSet()) == 0 && evens.countCommon(evens) == 70_000)
    }

    @Test func `Blocks begin and end at multiples of 65,536`() {
        let rows: [UInt32] = [0, 65_535, 65_536, 131_071, 196_608, 4_294_901_760, .max]
        let blocks = Array(RowSet(rows).blocks)
        #expect(blocks.map(\.number) == [0, 1, 3, 65_535])
        #expect(blocks.map(\.rows) == [[0, 65_535], [65_536, 131_071], [196_608], [4_294_901_760, .max]])
        #expect(Array(RowSet().blocks).isEmpty)
        #expect(RowSet(rows).blockCount == 65_536 && RowSet([65_535]).blockCount == 1 && RowSet().blockCount == 0)
    }

    @Test func `A full block is returned as a whole`() {
        var set = RowSet(Array(60_000..<200_000))
        set.compact()
        #expect(set.blocks.map(\.rows.count) == [5536, 65_536, 65_536, 3392])
        #expect(set.blocks.flatMap(\.rows) == Array(60_000..<200_000))
    }

    @Test func `A slice that starts at a row is the same part of the full list`() {
        let set = RowSet([3, 70_000, 70_001, .max])
        #expect(set.rows(from: 3, count: 2) == [3, 70_000])
        #expect(set.rows(from: 4, count: 9) == [70_000, 70_001, .max])
        #expect(set.rows(from: .max, count: 1) == [.max] && set.rows(from: 0, count: 0) == [])
        #expect(RowSet().rows(from: 0, count: 5) == [])
    }
}
