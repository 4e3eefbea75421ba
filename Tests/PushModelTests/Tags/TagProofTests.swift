import PushModel
import Support
import Testing

@Suite struct TagProofTests {
    private static func proof(_ first: String, _ second: String) throws -> TagProof {
        try TagProof(of: try TagExpression(parsing: first), and: try TagExpression(parsing: second))
    }

    @Test(
        arguments: [
            ("a && (b || c)", "a && b || a && c"), ("!(a || b)", "!a && !b"), ("Sports", "sports"), ("a || !a", "b || !b"),
            ("a && !a", "b && !b"), ("a", "!!a"), ("a && b && c", "c && (b && a)"),
            // A device has at most one installation and one user.
            ("$InstallationId:{1} && $InstallationId:{2}", "a && !a"), ("$UserId:{ana} && !$UserId:{bob}", "$UserId:{Ana}"),
            ("a && ($UserId:{x} || $UserId:{y}) && !$UserId:{x}", "a && $UserId:{y}"),
        ])
    func `Two expressions with the same meaning are equal, however they are written`(first: String, second: String) throws {
        #expect(try Self.proof(first, second) == .equal)
        #expect(try Self.proof(second, first) == .equal)
    }

    @Test(
        arguments: [
            ("a && b", "a || b", ["a"], false), ("a", "a && !b", ["a", "b"], true), ("a || !a", "a", [], true),
            ("a", "b", ["a"], true), ("a && b && c", "a && b", ["a", "b"], false),
            // An example with one other tag is shorter than the first example found.
            ("(a && b && c) || d", "a && b && c", ["d"], true),
            ("$UserId:{ana} && vip", "$UserId:{bob} && vip", ["vip", "$UserId:{ana}"], true),
            // A device can have one user and one installation at the same time.
            ("$UserId:{ana} && $InstallationId:{1}", "a && !a", ["$UserId:{ana}", "$InstallationId:{1}"], true),
        ] as [(String, String, [String], Bool)])
    func `If two expressions differ, the example has the fewest tags and says which one matches it`(
        first: String, second: String, tags: [String], isFirst: Bool
    ) throws {
        guard case .different(let example) = try Self.proof(first, second) else {
            Issue.record("\(first) and \(second) are different")
            return
        }
        #expect(Set(example.tags.map(\.text)) == Set(tags))
        #expect(example.isFirst == isFirst)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `The proof agrees with all possible registrations, and its example is minimal`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let names = ["a", "b", "c", "d", "$InstallationId:{1}", "$InstallationId:{2}", "$UserId:{x}", "$UserId:{y}"]
        let tags = try names.map { try PushModel.Tag($0) }
        let registrations = (0..<256).map { bits in tags.indices.filter { bits & 1 << $0 != 0 }.map { tags[$0] } }
            .filter(Self.canStand)
        #expect(registrations.count == 16 * 3 * 3)
        var (equal, different) = (0, 0)
        for round in 0..<200 {
            let first = Self.random(tags, depth: 4, using: &random)
            // A third of the pairs differ little, and a third only in form.
            let second =
                round.isMultiple(of: 3)
                ? first.normalized
                : round % 3 == 1
                    ? .or([first, .and([first, Self.random(tags, depth: 2, using: &random)])])
                    : Self.random(tags, depth: 4, using: &random)
            let differing = registrations.filter { first.matches(Set($0)) != second.matches(Set($0)) }
            switch try TagProof(of: first, and: second) {
            case .equal:
                equal += 1
                #expect(differing.isEmpty, "\(first) and \(second)")
            case .different(let example):
                different += 1
                #expect(example.tags.count == differing.map(\.count).min(), "\(first) and \(second)")
                #expect(Self.canStand(example.tags) && example.tags.uniqued() == example.tags)
                #expect(first.matches(Set(example.tags)) == example.isFirst)
                #expect(second.matches(Set(example.tags)) != example.isFirst)
            }
        }
        #expect(equal > 60 && different > 30, "\(equal) and \(different)")
    }

    /// Whether one registration may have all these tags: at most one installation and one user.
    private static func canStand(_ tags: [PushModel.Tag]) -> Bool {
        let forms = tags.compactMap(\.reservedForm)
        return forms.uniqued().count == forms.count
    }

    private static func random(_ tags: [PushModel.Tag], depth: Int, using random: inout SplitMix64) -> TagExpression {
        switch Int.random(in: 0..<(depth == 0 ? 2 : 6), using: &random) {
        case 0, 1: return .tag(tags[Int.random(in: 0..<tags.count, using: &random)])
        case 2: return .not(self.random(tags, depth: depth - 1, using: &random))
        case 3, 4: return .and((0..<Int.random(in: 0...3, using: &random)).map { _ in self.random(tags, depth: depth - 1, using: &random) })
        default: return .or((0..<Int.random(in: 0...3, using: &random)).map { _ in self.random(tags, depth: depth - 1, using: &random) })
        }
    }

    @Test func `Expressions with many tags are proved, also with hundreds of tags in an example`() throws {
        let names = (0..<1500).map { "t\($0)" }
        let any = names.joined(separator: " || ")
        #expect(try Self.proof(any, names.reversed().joined(separator: " || ")) == .equal)
        #expect(try Self.proof("!(\(any))", names.map { "!\($0)" }.joined(separator: " && ")) == .equal)
        guard case .different(let example) = try Self.proof(any, names.dropFirst(700).joined(separator: " || ")) else {
            Issue.record("the second one lacks the first 700")
            return
        }
        #expect(example.tags.count == 1 && example.isFirst)
    }

    @Test func `A difference that needs more tags than a registration may have does not count`() throws {
        func all(_ count: Int) -> String { (0..<count).map { "t\($0)" }.joined(separator: " && ") }
        #expect(try Self.proof(all(1001), "a && !a") == .equal)
        guard case .different(let example) = try Self.proof(all(1000), "a && !a") else {
            Issue.record("a thousand tags are allowed")
            return
        }
        #expect(example.tags.count == 1000)
    }

    @Test func `A proof with too many steps is rejected, with the limit`() throws {
        // The parity of many tags, in an order that makes a decision diagram large.
        let pairs = (0..<18).map { "a\($0) && b\($0)" }.joined(separator: " || ")
        let order = ((0..<18).map { "a\($0)" } + (0..<18).map { "b\($0)" }).joined(separator: " && ")
        let first = try TagExpression(parsing: "\(order) && x || !x && (\(pairs))")
        let error = #expect(throws: PushError.self) { try TagProof(of: first, and: try TagExpression(parsing: pairs)) }
        #expect(error?.code == "tags.too_complex" && error?.status == 422)
        #expect(error?.details["limit"] == .integer(Int64(TagProof.maximumSteps)))
        let many = try TagExpression(parsing: (0...TagProof.mostTags).map { "t\($0)" }.joined(separator: "||"))
        #expect(throws: PushError.self) { try TagProof(of: many, and: try TagExpression(parsing: "a")) }
    }
}
