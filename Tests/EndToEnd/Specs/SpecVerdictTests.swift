import Foundation
import HostSupport
import Support
import Testing

/// Why a test fails, and the messages of its failure.
@Suite struct SpecVerdictTests {
    private func run(_ lua: String, _ options: [String] = [], others: [String: String] = [:]) async throws -> (BuiltProgram, ScriptFolder) {
        let opening =
            "local push = require \"push\" local it = push.test.it local function phone() return push.device { name = 'ana' } end\n"
        var scripts = others
        scripts["a_spec.lua"] = opening + lua
        let folder = try ScriptFolder(scripts)
        return (try await BuiltProgram.run(["test"] + options, in: folder.url), folder)
    }

    // MARK: Sends without a target

    @Test(arguments: [
        "it('a', function() push.send { to = 'x', alert = 'Hi' } end)",
        "it('a', function() push.step('s', function() push.send { to = 'x', alert = 'Hi' } end) end)",
        "it('a', function() push.schedule { after = '1h', to = 'x', alert = 'Hi' } push.clock.advance '2h' end)",
        "it('a', function() push.run 'inner.lua' end)",
        "it('a', function() push.expect(push.send({ to = 'x', alert = 'Hi' }).sent).to.equal(0) end)",
        "it('a', function() push.expect(push.send({ to = 'x', alert = 'Hi' }).state).to_not.equal 'Completed' end)",
    ])
    func `a test whose sends reach no device fails`(lua: String) async throws {
        let (run, _) = try await run(lua, others: ["inner.lua": "require('push').send { to = 'x', alert = 'Hi' }"])
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.contains("error[test.no_target]: the send to \"x\" reached no device"), "\(run.output)")
        #expect(run.output.contains("push.test.allow_no_target()"))
    }

    @Test(arguments: [
        "it('a', function() push.test.allow_no_target() push.send { to = 'x', alert = 'Hi' } end)",
        "push.test.allow_no_target() it('a', function() push.send { to = 'x', alert = 'Hi' } end)",
        "push.test.before_each(push.test.allow_no_target) it('a', function() push.send { to = 'x', alert = 'Hi' } end)",
        "it('a', function() push.expect(push.send({ to = 'x', alert = 'Hi' }).state).to.equal 'NoTargetFound' end)",
        "it('a', function() push.send { device = phone(), alert = 'Hi' } end)",
    ])
    func `a test that expects no target passes`(lua: String) async throws {
        let (run, _) = try await run(lua)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test func `allowing no target applies to one test only, and flows cannot use it`() async throws {
        let send = "push.send { to = 'x', alert = 'Hi' }"
        let (run, folder) = try await run("it('a', function() push.test.allow_no_target() \(send) end) it('b', function() \(send) end)")
        #expect(run.status == 1)
        #expect(run.output.contains("✓ a") && run.output.contains("✗ b"), "\(run.output)")
        try folder.write("flow.lua", Data("require('push').test.allow_no_target()".utf8))
        #expect(try await BuiltProgram.run(["run", "flow.lua"], in: folder.url).errors.contains("test.not_a_spec"))
    }

    @Test func `a run that reaches no device prints the option that would fail it`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').send { to = 'x', alert = 'Hi' }"])
        let run = try await BuiltProgram.run(["run", "flow.lua"], in: folder.url)
        #expect(run.status == 0)
        #expect(run.output.contains("1 without target (--fail-on-no-target fails the run)"), "\(run.output)")
        let failed = try await BuiltProgram.run(["run", "flow.lua", "--fail-on-no-target"], in: folder.url)
        #expect(failed.status == 6)
        #expect(failed.output.contains("FAIL") && failed.output.contains("1 without target ·"), "\(failed.output)")
    }

    // MARK: Missing items

    @Test func `a failed expectation of a missing item lists the contents of the inbox`() async throws {
        let (run, _) = try await run(
            """
            it("typo", function()
              local p = phone()
              push.send { device = p, alert = "Hello", title = "News" }
              push.expect(p:wait_for { alert = "Helo", within = "1s" }).to.exist()
            end)
            it("later", function()
              local p = phone()
              local item = p:wait_for { contains = "x", background = true, within = "1m" }
              push.expect(item).to.exist()
            end)
            it("answered", function()
              local p = phone()
              push.expect(p:wait_for { alert = "a", within = "1s" }).to.be_nil()
              push.expect(nil).to.exist()
            end)
            """)
        #expect(run.status == 1)
        #expect(
            run.output.contains("expected a value, got nil: ana got no item with alert \"Helo\" within 1 s; its inbox has:"),
            "\(run.output)")
        #expect(run.output.contains("title \"News\", alert \"Hello\""), "\(run.output)")
        #expect(
            run.output.contains("got nil: ana got no item with contains \"x\", background within 1 min; its inbox is empty"),
            "\(run.output)")
        #expect(run.output.contains("error[expect.failed]: expected a value, got nil\n"), "\(run.output)")
    }

    @Test func `differences between tables are reported line by line`() async throws {
        let (run, _) = try await run(
            """
            local wanted = { name = "breaking news", tags = { "Sports", "Science" }, count = 3, deep = { er = { x = 1 } }, gone = true }
            local got = { name = "breaking news", tags = { "Sports", "World", "x" }, count = 4, deep = { er = { x = 2 } } }
            it("a", function() push.expect(got).to.equal(wanted) end)
            it("b", function() push.expect({ a = 1 }).to.equal { a = 2 } end)
            """)
        #expect(run.status == 1)
        for line in [
            "the tables have 5 differences:", ".count: expected 3, got 4", ".deep.er.x: expected 1, got 2",
            ".gone: expected true, got nothing", ".tags[2]: expected \"Science\", got \"World\"", ".tags[3]: expected nothing, got \"x\"",
            "expected { a = 2 }, got { a = 1 }",
        ] { #expect(run.output.contains(line), "\(line)\n\(run.output)") }
        #expect(!run.output.contains("actual    "))
    }

    // MARK: JUnit

    @Test func `JUnit times are real seconds, and simulated seconds are properties`() async throws {
        let (run, folder) = try await run(
            "it('a', function() push.sleep '2h' end) it('b', function() push.sleep '15s' end)", ["--junit", "out.xml"])
        #expect(run.status == 0)
        let xml = try String(contentsOf: folder.url.appending(path: "out.xml"), encoding: .utf8)
        let times = xml.matches(of: /\stime="([0-9.]+)"/).compactMap { Double($0.output.1) }
        #expect(times.count == 4)
        #expect(times.allSatisfy { $0 < 3600 }, "\(xml)")
        let virtual = xml.matches(of: /<property name="virtual_seconds" value="([0-9.]+)"\/>/).map { String($0.output.1) }
        #expect(virtual == ["7215.000", "7200.000", "15.000"])
    }

    @Test func `an error object is reported by its text`() async throws {
        let (run, _) = try await run("it('a', function()\nerror(setmetatable({}, { __tostring = function() return 'no room' end }))\nend)")
        #expect(run.status == 1)
        #expect(run.output.contains("error[script.error]: no room"), "\(run.output)")
        #expect(run.output.contains("a_spec.lua:3"), "\(run.output)")
    }
}
