import Synchronization
import Testing

@testable import PushModel

@Suite struct DistinctListsTests {
    private final class Tally: Sendable {
        private let count = Mutex(0)
        var hashes: Int { count.withLock { $0 } }
        func note() { count.withLock { $0 += 1 } }
    }

    private struct Counted: Hashable {
        let number: Int
        let tally: Tally

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }

        func hash(into hasher: inout Hasher) {
            tally.note()
            hasher.combine(number)
        }
    }

    @Test func `The cost of an append depends only on the elements appended`() {
        let tally = Tally()
        func elements(_ numbers: Range<Int>) -> [Counted] { numbers.map { Counted(number: $0, tally: tally) } }
        var lists = DistinctLists<Counted>()
        var (list, other) = (elements(0..<1000), elements(0..<10))
        // The first append hashes each existing element once, and once more when the set grows.
        lists.append(elements(0..<1), to: &list, at: ["a"])
        lists.append(elements(0..<1), to: &other, at: ["b"])
        let before = tally.hashes
        for number in 0..<1000 {
            lists.append(elements(number..<number + 1), to: &list, at: ["a"])
            lists.append(elements(number % 10..<number % 10 + 1), to: &other, at: ["b"])
        }
        #expect(list.count == 1000 && other.count == 10)
        #expect(tally.hashes - before == 2000)
    }

    @Test func `A list that was changed from outside is read again`() {
        var lists = DistinctLists<Int>()
        var (one, two) = ([1], [2])
        lists.append([3], to: &one, at: ["map", "one", "list"])
        lists.append([3], to: &two, at: ["map", "two", "list"])
        (one, two) = ([], [])
        lists.forget(within: ["map"], names: ["one"])
        lists.append([1, 3], to: &one, at: ["map", "one", "list"])
        lists.append([3], to: &two, at: ["map", "two", "list"])
        #expect(one == [1, 3] && two == [])
        lists.forget(within: ["map", "two"])
        lists.append([3], to: &two, at: ["map", "two", "list"])
        #expect(two == [3])
    }

    @Test func `Elements that replace another are inserted at its index, without duplicates`() {
        var lists = DistinctLists<Int>()
        var list = [1, 2, 3]
        lists.replace(2, with: [4, 1, 2], in: &list, at: [])
        #expect(list == [1, 4, 2, 3])
        lists.replace(9, with: [5], in: &list, at: [])
        lists.replace(1, with: [], in: &list, at: [])
        lists.append([1], to: &list, at: [])
        #expect(list == [4, 2, 3, 5, 1])
    }
}
