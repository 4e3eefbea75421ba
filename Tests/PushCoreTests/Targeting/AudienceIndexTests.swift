import PushCore
import Support
import Testing

@Suite struct AudienceIndexTests {
    /// What an index must agree with: every registration asked in turn.
    private struct NaiveIndex {
        var rows: [UInt32: Set<PushCore.Tag>] = [:]

        func select(_ expression: TagExpression?) -> [UInt32] {
            rows.filter { row in expression.map { Self.holds($0, for: row.value) } ?? true }.keys.sorted()
        }

        private static func holds(_ expression: TagExpression, for tags: Set<PushCore.Tag>) -> Bool {
            switch expression {
            case .tag(let tag): return tags.contains(tag)
            case .not(let inner): return !holds(inner, for: tags)
            case .and(let terms):
                for term in terms where !holds(term, for: tags) { return false }
                return true
            case .or(let terms):
                for term in terms where holds(term, for: tags) { return true }
                return false
            }
        }
    }

    private struct Generator {
        let random: SeededRandom
        let tags: [PushCore.Tag]

        init(seed: UInt64) throws {
            random = SeededRandom(seed: seed)
            tags = try (0..<12).map { try Tag("t\($0)") }
        }

        func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

        /// Low numbers are common tags, high ones rare.
        func tag() -> PushCore.Tag { tags[min(number(below: tags.count), number(below: tags.count))] }

        func tagList() -> [PushCore.Tag] { (0..<number(below: 6)).map { _ in tag() }.uniqued() }

        func expression(depth: Int) -> TagExpression {
            switch number(below: depth == 0 ? 2 : 6) {
            case 0, 1: return .tag(number(below: 8) == 0 ? tags[11] : tag())
            case 2: return .not(expression(depth: depth - 1))
            case 3, 4: return .and((0..<number(below: 4)).map { _ in expression(depth: depth - 1) })
            default: return .or((0..<number(below: 4)).map { _ in expression(depth: depth - 1) })
            }
        }
    }

    @Test("The index names whom a naive search names, while registrations come, go and change", arguments: 1...20)
    func agreement(seed: UInt64) throws {
        let generator = try Generator(seed: seed)
        var index = AudienceIndex()
        var naive = NaiveIndex()
        for _ in 0..<400 {
            let id = UInt32(generator.number(below: 80))
            if let tags = naive.rows.removeValue(forKey: id) { index.remove(id, tags: Array(tags)) }
            if generator.number(below: 3) > 0 {
                let tags = generator.tagList()
                index.insert(id, tags: tags)
                naive.rows[id] = Set(tags)
            }
            let expression = generator.expression(depth: 4)
            #expect(index.select(expression) == naive.select(expression), "\(expression)")
        }
        #expect(index.select(nil) == naive.select(nil))
        #expect(index.count == naive.rows.count)
        for tag in generator.tags {
            #expect(index.count(of: tag) == naive.rows.values.count { $0.contains(tag) })
        }
        for (id, tags) in naive.rows { index.remove(id, tags: Array(tags)) }
        #expect(index.count == 0 && Array(index.tags).isEmpty)
    }

    @Test("A parsed expression selects as it evaluates over one device")
    func parsed() throws {
        var index = AudienceIndex()
        let devices: [[String]] = [["a"], ["b", "c"], ["A", "C"], [], ["$UserId:{x}", "b"]]
        for (place, tags) in devices.enumerated() { index.insert(UInt32(place), tags: try tags.map { try Tag($0) }) }
        for text in [
            "a", "a || b && c", "(a||b)&&c", "!a", "!(a || b)", "!!c", "$userid:{X} && b", "nobody || !nobody",
        ] {
            let expression = try TagExpression(parsing: text)
            let expected = try devices.indices.filter { place in
                expression.matches(Set(try devices[place].map { try Tag($0) }))
            }
            #expect(index.select(expression) == expected.map { UInt32($0) }, "\(text)")
        }
    }

    @Test("An empty conjunction is everybody, an empty disjunction nobody") func empty() {
        var index = AudienceIndex()
        index.insert(3, tags: [])
        #expect(index.select(.and([])) == [3])
        #expect(index.select(.or([])) == [])
        #expect(index.select(.not(.or([]))) == [3])
    }

    @Test func `A part of the ids with a tag is that part of all of them`() throws {
        let tag = try Tag("a")
        var index = AudienceIndex()
        for id in 0..<500 as Range<UInt32> where id % 3 != 1 { index.insert(id * 7919 % 500, tags: id % 2 == 0 ? [tag] : []) }
        let all = index.select(.tag(tag))
        for first in [0, 1, 250, 499, 500, UInt32.max] {
            for count in [0, 1, 7, 1000] {
                #expect(index.ids(of: tag, from: first, count: count) == Array(all.filter { $0 >= first }.prefix(count)))
            }
        }
        #expect(index.ids(of: try Tag("b"), from: 0, count: 9).isEmpty)
    }
}
