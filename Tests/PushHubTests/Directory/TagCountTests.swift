import PushHub
import PushModel
import Support
import Testing

/// Number of registrations that match the parts of an expression.
@Suite struct TagCountTests {
    private static func lines(_ counts: TagCounts) -> [String] {
        counts.parts.map { part in
            let near = part.nearest.map { " near \($0.tag) \($0.registrations)" } ?? ""
            return String(repeating: "  ", count: part.depth) + "\(part.text) \(part.registrations)\(near)"
        }
    }

    @Test func `Every part is counted, and for a tag without registrations the nearest one is suggested`() async throws {
        let bench = try HubBench()
        for number in 1...6 {
            try await bench.register(.phone(number), tags: number.isMultiple(of: 2) ? ["Sports", "even"] : ["Sports"])
        }
        try await bench.register(.phone(7), tags: ["muted"])
        let counts = await bench.hub.count(try TagExpression(parsing: "(sport || cards) && !muted || SPORTS && even"))
        #expect(counts.registrations == 7)
        #expect(
            Self.lines(counts) == [
                "(sport || cards) && !muted || SPORTS && even 3",
                "  (sport || cards) && !muted 0",
                "    sport || cards 0",
                "      sport 0 near Sports 6",
                "      cards 0",
                "    !muted 6",
                "      muted 1",
                "  SPORTS && even 3",
                "    SPORTS 6",
                "    even 3",
            ])
        let empty = await (try HubBench()).hub.count(try TagExpression(parsing: "!a"))
        #expect(
            empty
                == TagCounts(
                    registrations: 0, parts: [.init(depth: 0, text: "!a", registrations: 0), .init(depth: 1, text: "a", registrations: 0)]))
    }

    @Test func `Expired registrations are not counted`() async throws {
        let bench = try HubBench(registrationTTL: .seconds(86_400))
        try await bench.register(.phone(1), tags: ["old"])
        bench.advance(by: .seconds(80_000))
        try await bench.register(.phone(2), tags: ["new"])
        #expect(Self.lines(await bench.hub.count(try TagExpression(parsing: "old || new"))) == ["old || new 2", "  old 1", "  new 1"])
        bench.advance(by: .seconds(10_000))
        let counts = await bench.hub.count(try TagExpression(parsing: "!(old || new)"))
        #expect(counts.registrations == 1)
        #expect(Self.lines(counts) == ["!(old || new) 0", "  old || new 1", "    old 0", "    new 1"])
        await bench.settle()
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `The count of every part agrees with the registrations that match it`(seed: UInt64) async throws {
        let bench = try HubBench(seed: seed)
        var random = SplitMix64(seed: seed)
        var registered: [Set<PushModel.Tag>] = []
        for number in 1...120 {
            let tags = ["a", "b", "c", "d"].filter { _ in random.chance(40) }
            try await bench.register(.phone(number), tags: tags)
            registered.append(Set(try tags.map { try PushModel.Tag($0) }))
        }
        for text in ["a && !b || (c && (a || !d))", "!(a || b) && !(c && d)", "a || b || c || d || e", "!!a && (b || !c || d)"] {
            for part in await bench.hub.count(try TagExpression(parsing: text)).parts {
                let expression = try TagExpression(parsing: part.text)
                #expect(part.registrations == registered.count { expression.matches($0) }, "\(part.text) of \(text)")
            }
        }
    }
}
