import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct AudienceIndexTests {
    /// The reference for the index: checks every registration in turn.
    private struct NaiveIndex {
        var rows: [UInt32: Set<PushModel.Tag>] = [:]

        func select(_ expression: TagExpression?) -> [UInt32] {
            rows.filter { row in expression.map { Self.holds($0, for: row.value) } ?? true }.keys.sorted()
        }

        private static func holds(_ expression: TagExpression, for tags: Set<PushModel.Tag>) -> Bool {
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

    /// Random registrations, changes and queries.
    private struct Generator {
        let random: SeededRandom
        let tags: [PushModel.Tag]

        init(seed: UInt64) throws {
            random = SeededRandom(seed: seed)
            tags = try (0..<12).map { try Tag("t\($0)") }
        }

        func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

        /// Low numbers are common tags, high numbers are rare ones.
        func tag() -> PushModel.Tag { tags[min(number(below: tags.count), number(below: tags.count))] }

        func tagList() -> [PushModel.Tag] { (0..<number(below: 6)).map { _ in tag() }.uniqued() }

        /// Rows around the borders of the first blocks, and the first and last rows.
        func row() -> UInt32 {
            let border = UInt32(number(below: 4)) << 16
            let near = UInt32(number(below: 20))
            return number(below: 20) == 0 ? .max - near : border == 0 ? near : border - 10 + near
        }

        func expression(depth: Int) -> TagExpression {
            switch number(below: depth == 0 ? 2 : 6) {
            case 0, 1: return .tag(number(below: 8) == 0 ? tags[11] : tag())
            case 2: return .not(expression(depth: depth - 1))
            case 3, 4: return .and((0..<number(below: 4)).map { _ in expression(depth: depth - 1) })
            default: return .or((0..<number(below: 4)).map { _ in expression(depth: depth - 1) })
            }
        }

        func step(_ index: inout AudienceIndex, _ naive: inout NaiveIndex) {
            let id = row()
            let old = naive.rows[id]
            if number(below: 3) == 0 {
                if let old { index.remove(id, tags: Array(old)) }
                naive.rows[id] = nil
            } else {
                let tags = tagList()
                index.update(id, from: Array(old ?? []), to: tags)
                naive.rows[id] = Set(tags)
            }
        }
    }

    @Test(
        "The index finds what a full scan finds, while registrations are added, changed and removed",
        arguments: 1...20 as ClosedRange<UInt64>, [1, 4, AudienceIndex.rareLimit])
    func agreement(seed: UInt64, rareLimit: Int) async throws {
        let generator = try Generator(seed: seed)
        var index = AudienceIndex(key: FingerprintKey(first: seed, second: 1), rareLimit: rareLimit)
        var naive = NaiveIndex()
        for _ in 0..<200 {
            await Task.yield()
            generator.step(&index, &naive)
            let expression = generator.expression(depth: 4)
            let expected = naive.select(expression)
            #expect(index.select(expression) == expected, "\(expression)")
            #expect(index.upperBound(expression) >= expected.count, "\(expression)")
        }
        #expect(index.select(nil) == naive.select(nil))
        #expect(index.count == naive.rows.count)
        for tag in generator.tags {
            #expect(index.count(of: tag) == naive.rows.values.count { $0.contains(tag) })
            #expect(index.firstRow(of: tag) == naive.select(.tag(tag)).first)
        }
        #expect(index.tagCount == Set(naive.rows.values.joined()).count)
        for (id, tags) in naive.rows { index.remove(id, tags: Array(tags)) }
        #expect(index.count == 0 && index.tagCount == 0 && index.sharedCount == 0)
    }

    @Test(
        "A copy stays unchanged while the original changes",
        arguments: 1...4 as ClosedRange<UInt64>)
    func readers(seed: UInt64) async throws {
        let generator = try Generator(seed: seed)
        let disagreements = try await withThrowingTaskGroup(of: [String].self) { group in
            var index = AudienceIndex(key: FingerprintKey(first: seed, second: 2), rareLimit: 8)
            var naive = NaiveIndex()
            for turn in 0..<60 as Range<UInt64> {
                for _ in 0..<20 { generator.step(&index, &naive) }
                let questions = try Generator(seed: seed << 32 + turn)
                group.addTask { [index, naive] in
                    (0..<40).map { _ in questions.expression(depth: 4) }.filter { index.select($0) != naive.select($0) }.map { "\($0)" }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(disagreements == [])
    }

    @Test func `A selection does not change with the index`() throws {
        let tag = try Tag("a")
        var index = AudienceIndex(key: .process, rareLimit: 2)
        for id in 0..<10 as Range<UInt32> { index.insert(id, tags: [tag]) }
        let (everybody, tagged) = (index.selection(nil), index.selection(.tag(tag)))
        for id in 0..<10 as Range<UInt32> { index.remove(id, tags: [tag]) }
        index.insert(70_000, tags: [tag])
        #expect(everybody.rows == Array(0..<10) && tagged == everybody)
        #expect(index.select(nil) == [70_000] && index.select(.tag(tag)) == [70_000])
    }

    @Test("A parsed expression selects the devices for which it evaluates to true")
    func parsed() throws {
        var index = AudienceIndex()
        let devices: [[String]] = [["a"], ["b", "c"], ["A", "C"], [], ["$UserId:{x}", "b"]]
        for (row, tags) in devices.enumerated() { index.insert(UInt32(row), tags: try tags.map { try Tag($0) }) }
        for text in [
            "a", "a || b && c", "(a||b)&&c", "!a", "!(a || b)", "!!c", "$userid:{X} && b", "nobody || !nobody",
        ] {
            let expression = try TagExpression(parsing: text)
            let expected = try devices.indices.filter { row in
                expression.matches(Set(try devices[row].map { try Tag($0) }))
            }
            #expect(index.select(expression) == expected.map { UInt32($0) }, "\(text)")
        }
    }

    @Test("An empty conjunction matches every device, an empty disjunction none") func empty() {
        var index = AudienceIndex()
        index.insert(3, tags: [])
        #expect(index.select(.and([])) == [3])
        #expect(index.select(.or([])) == [])
        #expect(index.select(.not(.or([]))) == [3])
    }

    @Test func `A slice of the ids with a tag is that part of all of them, for rare and common tags`() throws {
        let tag = try Tag("a")
        for rareLimit in [1, 1000] {
            var index = AudienceIndex(key: .process, rareLimit: rareLimit)
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

    @Test func `With a limit of four a tag gets its own set at five registrations, and loses it when three are left`() throws {
        let (tag, other) = (try Tag("a"), try Tag("b"))
        var index = AudienceIndex(key: .process, rareLimit: 4)
        index.insert(1000, tags: [other])
        for id in 0..<9 as Range<UInt32> {
            index.insert(id, tags: [tag])
            #expect(index.count(of: tag) == Int(id) + 1)
            #expect(index.sharedCount == (id < 4 ? 0 : 1))
            #expect(index.tagCount == 2)
        }
        for id in 0..<9 as Range<UInt32> {
            index.remove(id, tags: [tag])
            #expect(index.select(.tag(tag)) == Array(id + 1..<9))
            #expect(index.sharedCount == (id < 6 ? 1 : 0))
            #expect(index.tagCount == (id < 8 ? 2 : 1))
        }
        #expect(index.select(.tag(other)) == [1000])
    }

    @Test func `Tags that differ in case or in Unicode composition are one tag`() throws {
        var index = AudienceIndex()
        index.insert(1, tags: [try Tag("caf\u{E9}"), try Tag("News")])
        #expect(index.select(.tag(try Tag("CAFE\u{301}"))) == [1])
        #expect(index.select(.tag(try Tag("nEWS"))) == [1])
        #expect(index.select(.tag(try Tag("cafe"))).isEmpty)
        index.update(1, from: [try Tag("cafe\u{301}"), try Tag("NEWS")], to: [try Tag("news")])
        #expect(index.tagCount == 1)
        #expect(index.select(.tag(try Tag("CAF\u{C9}"))).isEmpty)
    }

    @Test func `An update from many tags to many other tags changes only the difference`() throws {
        var index = AudienceIndex()
        let tags = try (0..<300).map { try Tag("t\($0)") }
        index.insert(9, tags: tags)
        for (old, new) in [(0..<300, 0..<20), (0..<20, 10..<40), (10..<40, 12..<14), (12..<14, 12..<300)] {
            index.update(9, from: Array(tags[old]), to: tags[new].reversed())
            #expect(index.tagCount == new.count && tags[new].allSatisfy { index.count(of: $0) == 1 })
        }
    }

    @Test func `A bulk load gives the same index as single insertions`() throws {
        let generator = try Generator(seed: 5)
        var (loader, index) = (AudienceIndex.Loader(), AudienceIndex())
        for id in 0..<20_000 as Range<UInt32> where id % 7 != 3 {
            let tags = generator.tagList() + [try Tag("username:u\(id / 3)")]
            let row = id * 11 % 140_000
            loader.insert(row, tags: tags)
            index.insert(row, tags: tags)
        }
        let loaded = loader.finish()
        #expect(loaded.count == index.count && loaded.tagCount == index.tagCount)
        #expect(loaded.sharedCount == index.sharedCount && index.sharedCount == generator.tags.count)
        for tag in generator.tags + [try Tag("username:u7"), try Tag("username:u6666")] {
            #expect(loaded.select(.tag(tag)) == index.select(.tag(tag)) && index.count(of: tag) > 0)
        }
    }

    @Test func `Tags read from rows equal parsed tags, in any spelling`() throws {
        // Lengths around the read width, all cases and scripts, and enough tags to evict each other from a cache.
        let words =
            (1...70).map { String(repeating: "ab1_", count: 20).prefix($0) + "" } + (0..<1100).map { "topic\($0)" }
            + ["News", "NEWS", "news", "news2", "caf\u{E9}", "cafe\u{301}", "a:b", "a.b", "A-B", String(repeating: "x", count: 120)]
        let random = SeededRandom(seed: 8)
        var index = AudienceIndex(key: .process, rareLimit: 2)
        var loader = AudienceIndex.Loader(index)
        var read: [AudienceIndex.Loader.ReadTag] = []
        for id in 0..<4_000 as Range<UInt32> {
            let row = (0..<Int(random.next() % 7)).map { _ in
                random.next() % 3 == 0 ? "user\(id)" : words[Int(random.next() % UInt64(words.count))]
            }
            _ = try Array(row.joined(separator: ",").utf8).withUnsafeBytes { text in try loader.read(text, into: &read) }
            #expect(read.count == row.count)
            loader.insert(id, read)
            index.insert(id, tags: try row.map { try Tag($0) })
        }
        let loaded = loader.finish()
        #expect(loaded.tagCount == index.tagCount && loaded.sharedCount == index.sharedCount && loaded.sharedCount > 1000)
        for word in words { #expect(loaded.select(.tag(try Tag(word))) == index.select(.tag(try Tag(word)))) }
    }

    @Test(arguments: ["", "a b", "news\0", "news,", ",news", "news,,news", "news,n\u{7F}ws", String(repeating: "n", count: 121)])
    func `A row with an invalid tag is rejected, even if similar rows have been read before`(text: String) throws {
        var loader = AudienceIndex.Loader()
        var read: [AudienceIndex.Loader.ReadTag] = []
        for id in 0..<2_500 as Range<UInt32> {
            _ = try Array("news,other".utf8).withUnsafeBytes { text in try loader.read(text, into: &read) }
            loader.insert(id, read)
        }
        try #require(read.allSatisfy { if case .shared = $0 { true } else { false } })
        let bytes = Array(text.utf8)
        if text.isEmpty {
            _ = try bytes.withUnsafeBytes { text in try loader.read(text, into: &read) }
            #expect(read.isEmpty)
        } else {
            let error = #expect(throws: PushError.self) { try bytes.withUnsafeBytes { text in try loader.read(text, into: &read) } }
            #expect(error?.code == "tag.invalid")
        }
    }
}
