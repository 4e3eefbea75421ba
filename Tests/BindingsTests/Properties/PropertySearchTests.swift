import Lua
import PushModel
import Testing

@testable import Bindings

/// The search for a failing case of a property, and for the smallest one.
@Suite struct PropertySearchTests {
    private typealias Search = PropertySearch<Int>

    /// What a run of a case says about its list of numbers.
    private typealias Judge = @Sendable ([Int]) -> Search.End

    private static let failed = Search.End.failed(Search.Failure(code: "expect.failed"))

    /// A list of up to twenty numbers from -1000 to 1000, as the generators of the prelude draw it.
    private static func list(_ draws: PropertyDraws) -> [Int] {
        draws.beginSpan()
        defer { draws.endSpan() }
        var list: [Int] = []
        var isGoing = true
        while isGoing, list.count < 20 {
            draws.beginSpan()
            isGoing = draws.draw(7) > 0
            if isGoing {
                draws.beginSpan()
                list.append(draws.draw(1) == 1 ? -draws.draw(1000) : draws.draw(1000))
                draws.endSpan()
            }
            draws.endSpan()
        }
        return list
    }

    private func search(
        _ name: String = "a", seed: UInt64 = 1, limits: PropertyLimits = PropertyLimits(cases: 100, shrinks: 500),
        runs: Counter = Counter(),
        hasTime: @escaping () -> Bool = { true }, _ judge: @escaping Judge
    ) async throws -> Search.Outcome {
        try await Search(limits: limits, seed: seed, name: name, hasTime: hasTime) {
            $0 + $1
        } run: { draws throws(PushError) in
            runs.count += 1
            let numbers = draws.example.map { [$0] } ?? Self.list(draws)
            draws.setText("\(numbers)")
            return Search.Attempt(result: 1, end: judge(numbers))
        }.outcome()
    }

    private final class Counter { var count = 0 }

    private func finding(_ outcome: Search.Outcome) throws -> Search.FailingCase {
        guard case .failed(let finding) = outcome else {
            Issue.record("\(outcome)")
            throw PushError("test", "it held")
        }
        return finding
    }

    /// A property of a list, and the smallest lists for which it does not hold.
    struct Property: Sendable, CustomTestStringConvertible {
        let name: String
        let smallest: [String]
        let holds: @Sendable ([Int]) -> Bool

        var testDescription: String { name }
    }

    private static let properties = [
        Property(name: "the sum is below 100", smallest: ["[100]"]) { $0.reduce(0, +) < 100 },
        Property(name: "no number occurs twice", smallest: ["[0, 0]"]) { Set($0).count == $0.count },
        Property(name: "no number is below -37", smallest: ["[-38]"]) { $0.allSatisfy { $0 >= -37 } },
        Property(name: "there are fewer than five", smallest: ["[0, 0, 0, 0, 0]"]) { $0.count < 5 },
        Property(name: "none is above 50, or none is below -50", smallest: ["[51, -51]", "[-51, 51]"]) {
            ($0.max() ?? 0) <= 50 || ($0.min() ?? 0) >= -50
        },
        Property(name: "never", smallest: ["[]"]) { _ in false },
    ]

    @Test(arguments: properties) func `a failing case is shrunk to a smallest one, for any seed`(property: Property) async throws {
        for seed in 1...4 {
            let runs = Counter()
            let outcome = try await search(property.name, seed: UInt64(seed), runs: runs) { property.holds($0) ? .held : Self.failed }
            let finding = try finding(outcome)
            #expect(property.smallest.contains(finding.text), "\(finding)")
            #expect(runs.count < 200)
        }
    }

    @Test func `the same seed and name give the same result, another name other cases`() async throws {
        let judge: Judge = { $0.reduce(0, +) < 100 ? .held : Self.failed }
        let first = try finding(try await search("a", judge))
        let second = try finding(try await search("a", judge))
        #expect("\(first)" == "\(second)")
        let others = try await [("b", 1), ("a", 2), ("c", 1)].asyncMap { name, seed in
            try finding(try await search(name, seed: seed, judge))
        }
        #expect(others.contains { "\($0)" != "\(first)" })
    }

    @Test func `a smaller case must fail with the same code at the same line`() async throws {
        let location = SourceLocation(chunk: "a_spec.lua", line: 3)
        let other = SourceLocation(chunk: "a_spec.lua", line: 9)
        let outcome = try await search { numbers in
            if numbers.count >= 6 { return .failed(Search.Failure(code: "expect.failed", location: location)) }
            return numbers.count >= 4 ? .failed(Search.Failure(code: "expect.failed", location: other)) : .held
        }
        let text = try finding(outcome).text
        #expect(["[0, 0, 0, 0, 0, 0]", "[0, 0, 0, 0]"].contains(text), "\(text)")
    }

    @Test func `the runs that shrink a case are limited`() async throws {
        let runs = Counter()
        let limits = PropertyLimits(cases: 50, shrinks: 7)
        let finding = try finding(try await search(limits: limits, runs: runs) { $0.count < 5 ? .held : Self.failed })
        #expect(runs.count == finding.cases + 7)
        let none = Counter()
        _ = try await search(limits: PropertyLimits(cases: 50, shrinks: 0), runs: none) { $0.count < 5 ? .held : Self.failed }
        #expect(none.count == finding.cases)
    }

    @Test(arguments: ["budget.cpu", "budget.memory", "cancelled"])
    func `a case that used up a budget is not shrunk`(code: String) async throws {
        let runs = Counter()
        let finding = try finding(try await search(runs: runs) { $0.count < 5 ? .held : .failed(Search.Failure(code: code)) })
        #expect(finding.shrinks == 0)
        #expect(runs.count == finding.cases)
    }

    @Test func `a property that holds is run for each case, the simplest first`() async throws {
        let first = Counter()
        let seen = Seen()
        let outcome = try await search(limits: PropertyLimits(cases: 30, shrinks: 0), runs: first) { numbers in
            seen.lists.append(numbers)
            return .held
        }
        guard case .held(let count) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(count == 30)
        #expect(first.count == 30)
        #expect(seen.lists[0] == [])
        #expect(Set(seen.lists).count > 15)
    }

    private final class Seen: @unchecked Sendable { var lists: [[Int]] = [] }

    @Test func `unsuitable cases are replaced by others, up to a limit`() async throws {
        let outcome = try await search { $0.isEmpty ? .discarded : .held }
        guard case .held(100) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let runs = Counter()
        let starved = try await search(limits: PropertyLimits(cases: 3, shrinks: 0), runs: runs) { _ in .discarded }
        guard case .starved(_, let cases) = starved else {
            Issue.record("\(starved)")
            return
        }
        #expect(cases == 0)
        #expect(runs.count == 31)
    }

    @Test func `listed cases are run first`() async throws {
        let runs = Counter()
        let limits = PropertyLimits(cases: 10, shrinks: 10, examples: 3)
        let finding = try finding(try await search(limits: limits, runs: runs) { $0 == [2] ? Self.failed : .held })
        #expect(finding.example == 2)
        #expect(runs.count == 2)
    }

    @Test func `without time, no further case is run`() async throws {
        let runs = Counter()
        let outcome = try await search(runs: runs, hasTime: { runs.count < 4 }, { _ in .held })
        guard case .late(let count, let cases) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect([count, cases, runs.count] == [4, 4, 4])
    }

    // MARK: Draws

    @Test func `numbers that are replayed give the same case, and zeros follow them`() {
        let first = PropertyDraws.random(SeededRandom(seed: 3))
        let list = Self.list(first)
        let second = PropertyDraws.replaying(first.record.numbers)
        #expect(Self.list(second) == list)
        #expect(second.record == first.record)
        let short = PropertyDraws.replaying([7, 5])
        #expect([short.draw(3), short.draw(9), short.draw(9)] == [3, 5, 0])
    }

    @Test func `a case ends although its generators never do`() {
        let draws = PropertyDraws.random(SeededRandom(seed: 1))
        var count = 0
        while draws.draw(7) > 0 || count < 10_000 { count += 1 }
        #expect(draws.record.numbers.count == 10_000)
    }
}

extension Array {
    fileprivate func asyncMap<Other>(_ body: (Element) async throws -> Other) async rethrows -> [Other] {
        var others: [Other] = []
        for element in self { others.append(try await body(element)) }
        return others
    }
}
