import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// The options of `pushhost test` that choose tests, order them, and stop early.
@Suite struct SpecSelectionTests {
    private static let opening = "local push = require 'push' local it = push.test.it "

    /// Two specs with one failing test each, a passing one before it and one after it.
    private func folder() throws -> ScriptFolder {
        let lua = "it('one', function() end) it('two', function() error 'no' end) it('three', function() end)"
        return try ScriptFolder(["a_spec.lua": Self.opening + lua, "b_spec.lua": Self.opening + lua])
    }

    private func run(_ options: [String], in folder: ScriptFolder) async throws -> BuiltProgram {
        try await BuiltProgram.run(["test"] + options, in: folder.url)
    }

    @Test(
        arguments: [
            (["--shard", "3/2"], "--shard: invalid value \"3/2\"; expected i/n, such as 2/5"),
            (["--shard", "x"], "--shard: invalid value \"x\""), (["--shard"], "--shard: the value is missing"),
            (["--slowest", "0"], "--slowest: invalid value \"0\"; expected a whole number from 1"),
            (["--slowest", "many"], "--slowest: invalid value \"many\"; expected a whole number from 1"),
            (["--randomize=x"], "--randomize: invalid value \"x\"; expected a whole number from 0"),
            (["--bail=2"], "--bail takes no value, got \"2\""),
        ])
    func `a wrong value is reported with what is expected`(options: [String], message: String) async throws {
        let run = try await run(options, in: try folder())
        #expect(run.status == 2)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func `the shards together run each test once, and an empty shard passes`() async throws {
        let tests = (1...12).map { "it('t\($0)', function() end)" }.joined(separator: " ")
        let folder = try ScriptFolder(["a_spec.lua": Self.opening + tests])
        var names: [String] = []
        for number in 1...3 {
            let run = try await run(["--shard", "\(number)/3", "--tap"], in: folder)
            #expect(run.status == 0)
            names += run.output.matches(of: /ok \d+ - a_spec.lua › (t\d+)/).map { String($0.output.1) }
        }
        #expect(names.count == 12 && Set(names).count == 12, "\(names)")
        let single = try ScriptFolder(["a_spec.lua": "\(Self.opening) it('only', function() end)"])
        var counts: [Int] = []
        for number in 1...2 {
            let run = try await run(["--shard", "\(number)/2", "--filter", "only", "--json"], in: single)
            #expect(run.status == 0, "\(run.output)")
            counts.append(try #require(JSON(parsing: run.output)["tests"]?.int))
        }
        #expect(counts.sorted() == [0, 1])
    }

    @Test func `only the tests that failed run again, until they pass`() async throws {
        let folder = try folder()
        #expect(try await run(["--last-failed"], in: folder).output.hasPrefix("no failed tests of an earlier run; all tests are run\n"))
        let again = try await run(["--last-failed"], in: folder)
        #expect(again.status == 1)
        #expect(again.output.hasSuffix("FAIL  2 specs · 2 tests · 2 failed · 0 expectations · virtual 0 s\n"), "\(again.output)")
        try folder.write("a_spec.lua", Data("\(Self.opening) it('one', function() error 'x' end) it('two', function() end)".utf8))
        let mended = try await run(["--last-failed"], in: folder)
        #expect(mended.output.hasSuffix("FAIL  2 specs · 2 tests · 1 failed · 0 expectations · virtual 0 s\n"), "\(mended.output)")
        #expect(mended.output.contains("a_spec.lua\n  ✓ two\n"), "\(mended.output)")
        let ignored = try String(contentsOf: folder.url.appending(path: ".pushhost/.gitignore"), encoding: .utf8)
        #expect(ignored == "*\n")
    }

    @Test func `a run without failures writes nothing`() async throws {
        let folder = try ScriptFolder(["a_spec.lua": "\(Self.opening) it('one', function() end)"])
        #expect(try await run([], in: folder).status == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: ".pushhost").path))
    }

    @Test(arguments: ["1", "8"]) func `bail ends the run at the first failure, whatever the number of jobs`(jobs: String) async throws {
        let run = try await run(["--bail", "--jobs", jobs], in: try folder())
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("a_spec.lua\n  ✓ one\n  ✗ two\n"), "\(run.output)")
        #expect(!run.output.contains("✓ three") && !run.output.contains("b_spec.lua"), "\(run.output)")
        #expect(
            run.output.hasSuffix("FAIL  1 spec · 2 tests · 1 failed · stopped at the first failure · 0 expectations · virtual 0 s\n"),
            "\(run.output)")
    }

    @Test func `bail also ends at a spec that cannot be run`() async throws {
        let folder = try ScriptFolder(["a_spec.lua": "x = ", "b_spec.lua": "\(Self.opening) it('one', function() end)"])
        let run = try await run(["--bail", "--tap"], in: folder)
        #expect(run.status == 3)
        #expect(run.output.hasSuffix("1..1\nBail out! stopped at the first failure\n"), "\(run.output)")
    }

    @Test func `the same seed gives the same order, which is printed`() async throws {
        let tests = (1...20).map { "it('t\($0)', function() end)" }.joined(separator: " ")
        let folder = try ScriptFolder(["a_spec.lua": Self.opening + tests])
        let first = try await run(["--randomize", "5"], in: folder)
        #expect(first.status == 0)
        #expect(first.output.contains("\nrandom order: --randomize 5 repeats it\nPASS  1 spec · 20 tests"), "\(first.output)")
        #expect(try await run(["--randomize=5", "--jobs", "1"], in: folder).output == first.output)
        #expect(try await run([], in: folder).output != first.output)
        let random = try await run(["--json", "--randomize"], in: folder)
        let seed = try #require(JSON(parsing: random.output)["order"]?.string)
        #expect(try await run(["--json", "--randomize", seed], in: folder).output == random.output)
    }

    @Test func `the slowest tests are printed with their real time`() async throws {
        let folder = try folder()
        let text = try await run(["--slowest", "2"], in: folder)
        #expect(text.output.contains("SECONDS  TEST"), "\(text.output)")
        #expect(text.output.matches(of: /\n +\d+\.\d{3}  (one|two|three) +[ab]_spec.lua/).count == 2, "\(text.output)")
        let json = try JSON(parsing: try await run(["--slowest", "100", "--json"], in: folder).output)
        #expect(json["slowest"]?.array?.count == 6)
        #expect(json["stopped"]?.bool == false)
    }
}
