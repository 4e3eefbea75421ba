import Foundation
import HostSupport
import Support
import Testing

/// `push.run`: nested flows.
@Suite struct RunFlowTests {
    private func run(_ lua: String, _ others: [String: String]) async throws -> BuiltProgram {
        var scripts = others
        scripts["main.lua"] = "local push = require 'push' \(lua)"
        let folder = try ScriptFolder(scripts.mapValues { $0.hasPrefix("local push") ? $0 : "local push = require 'push' \($0)" })
        return try await BuiltProgram.run(["run", "main.lua"], in: folder.url)
    }

    @Test func `a nested flow shares phones, hub and clock, and its return value is passed on`() async throws {
        let run = try await run(
            """
            local phone = push.device { name = "a" }
            local run = push.run("inner.lua", { text = "Hello", count = 3, loud = true })
            print(run.result.seen, run.log[1], run.expectations, push.clock.iso(), phone:storage().mark)
            print(run.steps[1].name, run.steps[1].status)
            """,
            [
                "inner.lua": """
                local args = push.args { text = {}, count = { type = "integer" }, loud = { type = "boolean" } }
                push.step("look", function() push.expect(args.loud).to.be_true() end)
                push.sleep "1h"
                push.find_device("a"):storage().mark = args.text .. args.count
                print("inside")
                return { seen = #push.devices() }
                """
            ])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("1    inside    1    2026-01-05T10:00:00.000Z    Hello3"))
        #expect(run.output.contains("look    passed"))
        #expect(run.output.contains("  ✓ look"))
    }

    @Test func `a failing flow raises flow.failed with its line, and push.try returns it`() async throws {
        let run = try await run(
            "local ok, err = push.try(push.run, 'inner.lua') print(ok, err.code, err.details.cause, err.message) push.run 'inner.lua'",
            ["inner.lua": "push.expect(1).to.equal(2)"])
        #expect(run.status == 1)
        #expect(run.output.contains("nil    flow.failed    expect.failed    inner.lua failed at inner.lua:1: expected 2, got 1"))
        #expect(run.errors.contains("error[flow.failed]: inner.lua failed at inner.lua:1"))
        #expect(run.errors.contains("main.lua:1:"))
    }

    @Test(
        arguments: [
            ("push.run 'innr.lua'", "error[script.not_found]: innr.lua does not exist", "did you mean inner.lua?"),
            ("push.run('inner.lua', { usr = 'x' })", "error[flow.arguments]: inner.lua: unknown option \"--usr\"", "\"--user\"?"),
            ("push.run('inner.lua', { user = {} })", "error[args.wrong_type]", "main.lua:1"),
            ("push.run 'main.lua'", "error[flow.failed]", "flow.too_deep"),
            ("push.run 'broken.lua'", "error[flow.failed]: broken.lua failed at broken.lua:1", "script.syntax"),
        ])
    func `an error of push.run is reported at the line of the call`(lua: String, error: String, more: String) async throws {
        let run = try await run(lua, ["inner.lua": "push.args { user = {} }", "broken.lua": "("])
        #expect(run.status == (error.contains("flow.failed") || error.contains("not_found") ? 1 : 3))
        #expect(run.errors.contains(error), "\(run.errors)")
        #expect(run.errors.contains(more), "\(run.errors)")
    }

    @Test func `nested flows share no globals and can run concurrently`() async throws {
        let run = try await run(
            """
            counter = 1
            local runs = push.all {
              function() return push.run("inner.lua", { pause = "2s" }) end, function() return push.run("inner.lua", { pause = "1s" }) end,
            }
            print(counter, runs[1].result, runs[2].result, push.clock.iso())
            """,
            [
                "inner.lua":
                    "local a = push.args { pause = { type = 'duration' } } counter = (counter or 0) + 10 push.sleep(a.pause) return counter"
            ])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("1    10    10    2026-01-05T09:00:02.000Z"))
    }

    @Test func `a nested flow that waits forever stalls the run`() async throws {
        let run = try await run("push.run 'inner.lua'", ["inner.lua": "push.device { name = 'a' }:next_push()"])
        #expect(run.status == 1)
        #expect(run.errors.contains("error[flow.stalled]"))
    }
}
