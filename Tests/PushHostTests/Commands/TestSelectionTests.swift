import Bindings
import Lua
import PushModel
import Testing

@testable import PushHost

/// The choice and order of the tests that `pushhost test` runs.
@Suite struct TestSelectionTests {
    private static let tests = (1...60).map { TestCase(groups: ["all"], name: "t\($0)", location: nil, isPending: false) }

    private func names(_ selection: TestSelection, of spec: String = "a_spec.lua") -> [String] {
        selection.chosen(from: Self.tests, of: spec).map(\.test.name)
    }

    @Test(arguments: ["1/1", "2/5", "1000/1000"]) func `a shard is a number and a count`(text: String) {
        #expect(TestSelection.Shard(text).map { "\($0.number)/\($0.count)" } == text)
    }

    @Test(arguments: ["", "1", "0/2", "3/2", "1/0", "1/1001", "-1/2", "1/2/3", "a/b", "1/ 2"])
    func `other texts are not shards`(text: String) { #expect(TestSelection.Shard(text) == nil) }

    @Test func `each test is in one shard, which does not depend on the other tests`() throws {
        let shards = try (1...4).map { try #require(TestSelection.Shard("\($0)/4")) }
        let parts = shards.map { names(TestSelection(shard: $0)) }
        #expect(parts.allSatisfy { !$0.isEmpty })
        #expect(parts.flatMap { $0 }.sorted() == Self.tests.map(\.name).sorted())
        let few = TestSelection(shard: shards[1]).chosen(from: Array(Self.tests.prefix(20)), of: "./a_spec.lua").map(\.test.name)
        let expected = Set(Self.tests.prefix(20).map(\.name))
        #expect(few == parts[1].filter(expected.contains))
    }

    @Test func `a seed gives a fixed order, and another seed another one`() {
        let first = names(TestSelection(order: 7))
        #expect(first == names(TestSelection(order: 7)))
        #expect(first != names(TestSelection(order: 8)))
        #expect(first != Self.tests.map(\.name))
        #expect(Set(first) == Set(Self.tests.map(\.name)))
        let numbers = TestSelection(order: 7).chosen(from: Self.tests, of: "a_spec.lua")
        #expect(numbers.allSatisfy { "t\($0.number)" == $0.test.name })
    }

    @Test func `only an option without a seed gets a random one`() {
        let random = SeededRandom(seed: 1)
        let seed = SeededRandom(seed: 1).next() % 1_000_000
        #expect(CommandLineSplit.seeded(["test", "--randomize", "4", "a"], random: random) == ["test", "--randomize", "4", "a"])
        #expect(CommandLineSplit.seeded(["test", "--randomize=4"], random: random) == ["test", "--randomize=4"])
        #expect(CommandLineSplit.seeded(["test", "--randomize", "specs"], random: random) == ["test", "--randomize=\(seed)", "specs"])
        #expect(CommandLineSplit.seeded(["test", "--randomize"], random: SeededRandom(seed: 1)) == ["test", "--randomize=\(seed)"])
    }

    // MARK: Failed tests

    private func file(_ name: String, passed: [String], failed: [String], others: [String] = [], failure: LuaError? = nil) -> TestFile {
        var file = TestFile(script: FlowScript(name: name, source: [], version: "000000"))
        file.failure = failure
        file.declared = passed.count + failed.count + others.count
        file.declaredNames = Set(passed + failed + others)
        let refusal = LuaError(kind: .failure, code: "expect.failed", message: "no")
        func test(_ name: String) -> TestCase { TestCase(groups: [], name: name, location: nil, isPending: false) }
        file.records = passed.map { TestRecord(test: test($0)) } + failed.map { TestRecord(test: test($0), refusal: refusal) }
        return file
    }

    @Test func `a test counts as failed until it passes or is no longer declared`() {
        var tests = FailedTests()
        tests.enter([file("./a_spec.lua", passed: ["p"], failed: ["x", "y", "z"])])
        #expect(tests.contains("x", of: "a_spec.lua") && !tests.contains("p", of: "a_spec.lua"))
        #expect(!tests.contains("x", of: "b_spec.lua"))
        tests.enter([file("a_spec.lua", passed: ["x"], failed: [], others: ["y", "p"])])
        #expect(!tests.contains("x", of: "a_spec.lua"), "it passed")
        #expect(tests.contains("y", of: "a_spec.lua"), "it did not run")
        #expect(!tests.contains("z", of: "a_spec.lua"), "it is not declared")
        tests.enter([file("a_spec.lua", passed: ["x", "y", "p"], failed: [])])
        #expect(tests.isEmpty)
    }

    @Test func `all tests of a spec that could not be run count as failed until all have run`() {
        var tests = FailedTests()
        tests.enter([file("a_spec.lua", passed: [], failed: [], failure: LuaError(kind: .syntax, code: "script.syntax", message: "no"))])
        #expect(tests.contains("anything", of: "a_spec.lua"))
        tests.enter([file("a_spec.lua", passed: ["x"], failed: [], others: ["y"])])
        #expect(tests.contains("y", of: "a_spec.lua"))
        tests.enter([file("a_spec.lua", passed: ["x", "y"], failed: [])])
        #expect(tests.isEmpty)
    }

    @Test func `failed tests are read as they were written, and a damaged file counts as none`() throws {
        var tests = FailedTests()
        let broken = LuaError(kind: .syntax, code: "script.syntax", message: "no")
        tests.enter([file("a_spec.lua", passed: [], failed: ["x › \"y\""]), file("b_spec.lua", passed: [], failed: [], failure: broken)])
        #expect(try FailedTests(parsing: Array(tests.document.text(pretty: true).utf8)) == tests)
        #expect(try FailedTests(parsing: Array("[]".utf8)).isEmpty)
        #expect(throws: JSONError.self) { try FailedTests(parsing: Array("{".utf8)) }
    }

    @Test func `the slowest tests are listed longest first, without pending ones`() {
        var file = file("a_spec.lua", passed: [], failed: ["a", "b", "c"])
        for index in file.records.indices { file.records[index].realDuration = .milliseconds([20, 1500, 3][index]) }
        file.records.append(TestRecord(test: TestCase(groups: [], name: "later", location: nil, isPending: true)))
        let slowest = SlowTest.longest(of: [file], count: 2)
        #expect(slowest.map(\.name) == ["b", "a"])
        #expect(slowest.map(\.seconds) == ["1.500", "0.020"])
        #expect(SlowTest.longest(of: [file], count: 10).count == 3)
    }
}
