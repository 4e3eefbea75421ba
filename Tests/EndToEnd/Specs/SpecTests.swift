import Bindings
import Foundation
import HostSupport
import Lua
import PushLab
import PushModel
import Support
import Testing

/// `pushhost test`.
@Suite struct SpecTests {
    private static let spec = """
        local push = require "push"
        local describe, it = push.test.describe, push.test.it
        local before_each, after_each = push.test.before_each, push.test.after_each
        """

    private func run(
        _ lua: String, _ options: [String] = [], others: [String: String] = [:]
    ) async throws -> (BuiltProgram, ScriptFolder) {
        var scripts = others
        scripts["a_spec.lua"] = "\(Self.spec) \(lua)"
        let folder = try ScriptFolder(scripts)
        return (try await BuiltProgram.run(["test"] + options, in: folder.url), folder)
    }

    @Test func `each test runs in isolation from the others`() async throws {
        let (run, _) = try await run(
            """
            local count = 0
            push.device { name = "shared" }
            describe("worlds", function()
              it("one", function() count = count + 1 push.device { name = "x" } push.sleep "1d" push.expect(count).to.equal(1) end)
              it("two", function()
                count = count + 1
                push.device { name = "x" }
                push.expect(count).to.equal(1)
                push.expect(push.clock.iso()).to.equal "2026-01-05T09:00:00.000Z"
                push.expect(#push.devices()).to.equal(2)
              end)
            end)
            """)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.hasSuffix("PASS  1 spec · 2 tests · 4 expectations · virtual 1 d\n"))
    }

    @Test func `hooks run around each test, outer hooks outermost, and also after a failure`() async throws {
        let (run, _) = try await run(
            """
            before_each(function() push.log("file") end)
            describe("outer", function()
              before_each(function() push.log("outer") end)
              after_each(function() push.log("outer end") end)
              describe("inner", function()
                before_each(function() push.log("inner") end)
                after_each(function() push.log("inner end") error("of the hook") end)
                it("fails", function() push.log("test") error("of the test") end)
                it("fails in its hook", function() end)
              end)
              it("passes", function() end)
            end)
            """)
        #expect(run.status == 1)
        let log = run.output.split(separator: "\n").filter { $0.contains("│ ") && !$0.contains(" |") }
            .map { $0.trimmingCharacters(in: .whitespaces).dropFirst(2) }
        #expect(log == ["file", "outer", "inner", "test", "inner end", "outer end", "file", "outer", "inner", "inner end", "outer end"])
        #expect(run.output.contains("a_spec.lua:10:"))
        #expect(run.output.contains("of the test"))
        #expect(run.output.contains("of the hook"))
        #expect(run.output.contains("    ✓ passes"))
        #expect(run.output.hasSuffix("FAIL  1 spec · 3 tests · 2 failed · 0 expectations · virtual 0 s\n"))
    }

    @Test func `a failed expectation fails the test even if the script catches the error`() async throws {
        let (run, _) = try await run(
            "it('a', function() pcall(function() push.expect(1).to.equal(2) end) end) it('b', function() push.check(false) end)")
        #expect(run.status == 1)
        #expect(run.output.contains("2 failed"))
        #expect(run.output.contains("expected 2, got 1"))
    }

    @Test func `a test without a function is pending`() async throws {
        let (run, _) = try await run("it('later') it('now', function() end)")
        #expect(run.status == 0)
        #expect(run.output.contains("  – later  pending\n  ✓ now\n"))
    }

    @Test(
        arguments: [
            ("it('a', function() it('b', function() end) end)", "test.order", 1),
            ("it('a', function() describe('b', function() end) end)", "test.order", 1),
            ("it('a', function() end) before_each(function() end)", "test.order", 3),
            ("it('a', 1)", "args.wrong_type", 3), ("it()", "args.missing", 3), ("describe('a')", "args.missing", 3),
            ("push.send { to = '' }", "send.no_audience", 3), ("local x = ", "script.syntax", 3), ("", "test.empty", 3),
        ] as [(String, String, Int32)])
    func `an error in a spec is reported with its line`(lua: String, code: String, status: Int32) async throws {
        let (run, _) = try await run(lua)
        #expect(run.status == status)
        #expect(run.output.contains("error[\(code)]"), "\(run.output)")
        #expect(run.output.contains("a_spec.lua:3:") || code == "test.empty", "\(run.output)")
    }

    @Test func `running a spec with pushhost run fails and names pushhost test`() async throws {
        let folder = try ScriptFolder(["a_spec.lua": "\(Self.spec) it('a', function() end)"])
        let run = try await BuiltProgram.run(["run", "a_spec.lua"], in: folder.url)
        #expect(run.status == 3)
        #expect(run.errors.contains("error[test.not_a_spec]"))
        #expect(run.errors.contains("pushhost test a_spec.lua"))
    }

    @Test func `the filter selects tests by any part of their full name`() async throws {
        let lua = "describe('Breaking', function() it('reaches Ana', function() end) it('no', function() error 'x' end) end)"
        #expect(try await run(lua, ["--filter", "breaking › REACHES"]).0.output.contains("1 test ·"))
        let none = try await run(lua, ["--filter", "nothing"]).0
        #expect(none.status == 2)
        #expect(none.errors.contains("error[test.no_match]"))
    }

    @Test func `specs are found in folders, in order, and hidden folders are skipped`() async throws {
        let folder = try ScriptFolder(["b_spec.lua": "\(Self.spec) it('b', function() end)", "c.lua": "error 'no spec'"])
        for (name, text) in [("deep/a_spec.lua", "it('a', function() end)"), (".hidden/h_spec.lua", "error 'x'")] {
            let url = folder.url.appending(path: name)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("\(Self.spec) \(text)".utf8).write(to: url)
        }
        let all = try await BuiltProgram.run(["test"], in: folder.url)
        #expect(all.status == 0)
        #expect(all.output.hasPrefix("b_spec.lua\n  ✓ b\ndeep/a_spec.lua\n  ✓ a\n"))
        #expect(try await BuiltProgram.run(["test", "deep"], in: folder.url).output.contains("1 spec ·"))
        #expect(try await BuiltProgram.run(["test", "deep/a_spec.lua", "deep"], in: folder.url).output.contains("1 spec ·"))
        let missing = try await BuiltProgram.run(["test", "dep"], in: folder.url)
        #expect(missing.status == 2)
        #expect(missing.errors.contains("dep does not exist"))
        let empty = try ScriptFolder()
        let nothing = try await BuiltProgram.run(["test"], in: empty.url)
        #expect(nothing.status == 2)
        #expect(nothing.errors.contains("error[test.no_specs]"))
    }

    private static let mixed = """
        describe("a <b>", function()
          it("passes & says", function() print("]]> \\27 <x>") end)
          it("fails # here", function() push.expect("é\\"\\\\").to.equal("x") end)
          it("later")
        end)
        """

    @Test func `TAP output has a plan, a line per test, and the failures`() async throws {
        let (run, _) = try await run(Self.mixed, ["--tap"])
        #expect(run.status == 1)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "TAP version 14")
        #expect(lines.contains("ok 1 - a_spec.lua › a <b> › passes & says"))
        #expect(lines.contains("not ok 2 - a_spec.lua › a <b> › fails \\# here"))
        #expect(lines.contains("ok 3 - a_spec.lua › a <b> › later # SKIP pending"))
        #expect(lines.contains(#"      message: "expected \"x\", got \"é\\\"\\\\\"""#))
        #expect(lines.last == "1..3")
    }

    @Test func `JUnit output is well-formed XML with counts, locations and printed text`() async throws {
        let (run, folder) = try await run(Self.mixed, ["--junit", "out.xml"], others: ["b_spec.lua": "("])
        #expect(run.status == 3)
        #expect(
            run.output.hasSuffix("FAIL  2 specs · 3 tests · 1 failed · 1 pending · 1 spec could not be run · 1 expectation · virtual 0 s\n")
        )
        let url = folder.url.appending(path: "out.xml")
        let xml = try String(contentsOf: url, encoding: .utf8)
        let python = try await BuiltProgram.run(
            [
                "-c",
                "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); print(r.attrib, [c.attrib['name'] for c in r.iter('testcase')])",
                url.path,
            ],
            tool: URL(filePath: "/usr/bin/python3"))
        #expect(python.status == 0, "\(python.errors) \(xml)")
        #expect(python.output.contains("'tests': '4', 'failures': '1', 'errors': '1', 'skipped': '1'"))
        #expect(python.output.contains("['passes & says', 'fails # here', 'later', 'b_spec.lua']"))
        #expect(xml.contains("<failure message=") && xml.contains("a_spec.lua:5") && xml.contains("line=\"4\""))
        #expect(xml.contains("<system-out>"))
    }

    @Test func `a JUnit file that cannot be written fails the run and leaves nothing behind`() async throws {
        let (run, folder) = try await run("it('a', function() end)", ["--junit", "no/such/folder.xml"])
        #expect(run.status == 2)
        #expect(run.errors.contains("error[output.failed]: no/such/folder.xml cannot be written"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func `JSON output follows the schema`() async throws {
        let (run, _) = try await run(Self.mixed, ["--json"])
        let document = try JSON(parsing: run.output)
        #expect(document["schema"]?.string == "pushhost.test/1")
        #expect(document["verdict"]?.string == "fail")
        #expect(document["exit_code"]?.int == 1)
        let tests = try #require(document["files"]?.array?.first?["tests"]?.array)
        #expect(tests.map { $0["status"]?.string } == ["passed", "failed", "pending"])
        #expect(tests[1]["failures"]?.array?.first?["where"]?.string == "a_spec.lua:5")
    }

    @Test func `parallel tests print the same as sequential ones`() async throws {
        let lua = (1...30).map { "it('t\($0)', function() push.sleep '\($0)s' print(\($0)) push.check(\($0) % 7 ~= 0) end)" }.joined(
            separator: "\n")
        let one = try await run(lua, ["--jobs", "1"]).0
        let many = try await run(lua, ["--jobs", "8"]).0
        #expect(one.output == many.output)
        #expect(one.output.contains("4 failed"))
    }

    @Test(.timeLimit(.minutes(10))) func `a spec that never ends is stopped by its budget, and Ctrl-C ends all specs`() async throws {
        let (run, _) = try await run("it('a', function() while true do end end) it('b', function() end)", ["--cpu-limit", "100ms"])
        #expect(run.status == 1)
        #expect(run.output.contains("error[budget.cpu]") && run.output.contains("  ✓ b"))
        let folder = try ScriptFolder([
            "a_spec.lua": "\(Self.spec) it('a', function() end)", "b_spec.lua": "\(Self.spec) it('b', function() while true do end end)",
        ])
        let stopped = try await BuiltProgram.run(["test", "--jobs", "1", "--cpu-limit", "50s"], in: folder.url) { child in
            kill(child.id, SIGINT)
        }
        #expect(stopped.status == 130)
        #expect(stopped.output.contains("INTERRUPTED"))
    }

    @Test func `reading a file's declarations can be cancelled`() async throws {
        let script = FlowScript(name: "a.lua", source: Array("while true do end".utf8), version: "000000")
        let thread = LuaThread(name: "declares")
        defer { thread.stop() }
        let world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets())
        let runner = FlowRunner(world: world.world, thread: thread, limits: LuaLimits(cpu: .seconds(5)), seed: 1)
        let tests = Task { _ = try await runner.tests(of: script) { _ in } }
        tests.cancel()
        #expect(await #expect(throws: LuaError.self) { try await tests.value }?.code == "cancelled")
        let declaration = Task { _ = try await runner.declaration(of: script) }
        declaration.cancel()
        #expect(await #expect(throws: LuaError.self) { try await declaration.value }?.code == "cancelled")
    }

    @Test func `the events of a test count against its memory budget`() async throws {
        let lua = "local push = require 'push' push.test.it('b', function() for i = 1, 100000 do print('') end end)"
        let script = FlowScript(name: "a.lua", source: Array(lua.utf8), version: "000000")
        let cases: [(Int, String?)] = [(6 << 20, "budget.memory"), (256 << 20, nil)]
        for (memory, code) in cases {
            let runner = SpecRunner(limits: LuaLimits(memory: memory, cpu: .seconds(600)), seed: 1, scripts: NoScripts()) {
                (thread, _) throws(PushError) in
                try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets()).world
            }
            let result = try await runner.run(TestCase(groups: [], name: "b", location: nil, isPending: false), number: 1, of: script)
            var error: LuaError?
            if case .raised(let raised) = result.report.verdict { error = raised }
            #expect(error?.code == code, "\(result.report.verdict)")
        }
    }

    @Test func `tests whose order changes between passes are rejected`() async throws {
        let script = FlowScript(
            name: "a.lua", source: Array("local push = require 'push' push.test.it('b', function() end)".utf8), version: "000000")
        let runner = SpecRunner(limits: LuaLimits(), seed: 1, scripts: NoScripts()) { (thread, _) throws(PushError) in
            try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets()).world
        }
        for (name, number) in [("a", 1), ("b", 2)] {
            let error = await #expect(throws: PushError.self) { () async throws in
                _ = try await runner.run(TestCase(groups: [], name: name, location: nil, isPending: false), number: number, of: script)
            }
            #expect(error?.code == "test.unstable")
        }
    }

    @Test func `a hook declared after tests is rejected in outer groups too, and so is nil instead of a function`() async throws {
        let (run, _) = try await run(
            "describe('o', function() describe('i', function() it('x', function() end) end) before_each(function() end) end)")
        #expect(run.status == 3)
        #expect(run.output.contains("error[test.order]"))
        let typo = try await self.run("it('x', my_tset)").0
        #expect(typo.status == 3)
        #expect(typo.output.contains("got nil for its function"))
    }

    @Test func `failures at the same line keep their own messages`() async throws {
        let (run, _) = try await run(
            "it('a', function() local f = function(n) push.expect(n).to.equal(0) end for i = 1, 3 do pcall(f, i) end f(9) end)")
        for number in ["1", "2", "3", "9"] { #expect(run.output.contains("expected 0, got \(number)")) }
    }

    @Test func `reports are written through links and to devices such as /dev/stdout`() async throws {
        let (_, folder) = try await run("it('a', function() end)")
        let shell = try await BuiltProgram.shell(
            """
            echo old > real.xml; ln -s real.xml link.xml; "$P" test --junit link.xml > /dev/null && test -L link.xml && grep -c testsuites real.xml
            "$P" test --junit /dev/full; echo "full $?"; test -c /dev/full && echo still
            "$P" test --junit /dev/stdout | grep -c '<testsuites'; ls | grep -c part
            """, in: folder.url)
        #expect(shell.output.hasPrefix("2\n"), "\(shell.output)")
        #expect(shell.output.contains("full 2\nstill\n1\n0\n"))
        #expect(shell.errors.contains("/dev/full cannot be written"))
    }

    @Test func `a nested flow that exceeds its budget ends the test`() async throws {
        let (run, _) = try await run(
            "it('a', function() for _ = 1, 5 do push.try(push.run, 'loop.lua') end end)", ["--cpu-limit", "200ms"],
            others: ["loop.lua": "while true do end"])
        #expect(run.status == 1)
        #expect(run.output.contains("error[budget.cpu]"))
        #expect(run.output.contains("--cpu-limit"))
    }

    @Test func `a matcher that cannot inspect a value fails, even when negated`() async throws {
        let (run, _) = try await run(
            """
            it('a', function() push.expect(nil).to_not.contain "secret" end)
            it('b', function() push.expect(1).to_not.match "x" end)
            it('c', function() push.device { name = "p" } push.expect(push.find_device "p").to.equal(push.devices()[1]) end)
            it('d', function() push.device { name = "p" } push.expect(push.device { name = "q" }).to_not.equal(push.find_device "p") end)
            """)
        #expect(run.output.contains("2 failed"))
        #expect(run.output.contains("contain needs a string or a table, got nil"))
    }
}
