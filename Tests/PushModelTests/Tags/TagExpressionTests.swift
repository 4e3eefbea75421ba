import PushModel
import Support
import Testing

@Suite struct TagExpressionTests {
    @Test func `Any expression parses back from its text with the same meaning`() throws {
        var random = SplitMix64(seed: 7)
        for _ in 0..<1_000 {
            let tree = try TagExpressionTests.random(depth: 0, using: &random)
            let parsed = try TagExpression(parsing: tree.description)
            #expect(parsed == tree.normalized)
            #expect(parsed.description == tree.description)
            for _ in 0..<4 {
                let tags = try Set("abcdef".filter { _ in random.chance(50) }.map { try Tag(String($0)) })
                let expected = TagExpressionTests.naive(tree, Set(tags.map(\.text)))
                #expect(tree.matches(tags) == expected)
                #expect(parsed.matches(tags) == expected)
                #expect(parsed.explain(tags).first?.holds == expected)
            }
        }
    }

    @Test func `Tags are listed once, in the order of appearance`() throws {
        let expression = try TagExpression(parsing: "(b || A) && !c || a")
        #expect(expression.tags.map(\.text) == ["b", "A", "c"])
    }

    @Test func `An explanation reports for every part whether it matches`() throws {
        let expression = try TagExpression(parsing: "(red || cards) && boston && !muted")
        let findings = expression.explain([try Tag("Red"), try Tag("boston"), try Tag("muted")])
        #expect(
            findings == [
                .init(depth: 0, text: "(red || cards) && boston && !muted", holds: false),
                .init(depth: 1, text: "red || cards", holds: true),
                .init(depth: 2, text: "red", holds: true),
                .init(depth: 2, text: "cards", holds: false),
                .init(depth: 1, text: "boston", holds: true),
                .init(depth: 1, text: "!muted", holds: false),
                .init(depth: 2, text: "muted", holds: true),
            ])
    }

    @Test(
        arguments: [
            (20, "||", nil),
            (21, "||", "The expression has 21 tags; Azure Notification Hubs allows 20 with || only."),
            (6, "&&", nil),
            (7, "&&", "The expression has 7 tags; Azure Notification Hubs allows 6 with && or !."),
            (7, "||!", "The expression has 7 tags; Azure Notification Hubs allows 6 with && or !."),
        ] as [(Int, String, String?)])
    func `Azure's limits are reported`(_ count: Int, _ sign: String, _ finding: String?) throws {
        let text = (0..<count).map { "t\($0)" }.joined(separator: sign)
        #expect(try TagExpression(parsing: text).azureFindings() == (finding.map { [$0] } ?? []))
    }

    @Test func `Empty lists have their logical meaning`() {
        #expect(TagExpression.and([]).matches([]))
        #expect(!TagExpression.or([]).matches([]))
        #expect(throws: TagExpressionError.self) { try TagExpression(parsing: TagExpression.or([]).description) }
    }

    private static func random(depth: Int, using random: inout SplitMix64) throws -> TagExpression {
        switch Int.random(in: 0..<(depth < 5 ? 6 : 2), using: &random) {
        case 0, 1: return .tag(try Tag(String("abcdef".randomElement(using: &random) ?? "a")))
        case 2, 3:
            let count = Int.random(in: 1...3, using: &random)
            return .and(try (0..<count).map { _ in try self.random(depth: depth + 1, using: &random) })
        case 4:
            let count = Int.random(in: 1...3, using: &random)
            return .or(try (0..<count).map { _ in try self.random(depth: depth + 1, using: &random) })
        default: return .not(try self.random(depth: depth + 1, using: &random))
        }
    }

    private static func naive(_ expression: TagExpression, _ tags: Set<String>) -> Bool {
        switch expression {
        case .tag(let tag): tags.contains(tag.text)
        case .not(let term): !naive(term, tags)
        case .and(let terms): terms.reduce(true) { $0 && naive($1, tags) }
        case .or(let terms): terms.reduce(false) { $0 || naive($1, tags) }
        }
    }
}
