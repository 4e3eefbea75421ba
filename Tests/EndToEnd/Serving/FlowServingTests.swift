import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// Flows in `pushhost serve`.
@Suite struct FlowServingTests {
    private static let settings = "listen: { port: 0, tls_port: none }\nlog: { level: error }\nlab: on\n"

    private struct Bench {
        let folder: ScriptFolder
        var server: Dialogue

        init(_ flows: String, _ scripts: [String: String]) async throws {
            folder = try ScriptFolder(scripts.merging(["pushhost.yaml": FlowServingTests.settings + flows]) { $1 })
            server = try Dialogue(["serve"], in: folder.url)
            try await server.hear("Press Ctrl-C to stop.")
        }

        /// Kills the server and starts another one on the same data.
        mutating func kill() async throws {
            server.signal(SIGKILL)
            _ = await server.end(closingInput: false)
            server = try Dialogue(["serve"], in: folder.url)
            try await server.hear("Press Ctrl-C to stop.")
        }

        func end() async throws {
            server.signal(SIGTERM)
            #expect(await server.end(closingInput: false).status == 0)
        }

        func shell(_ line: String) async throws -> BuiltProgram {
            try await BuiltProgram.shell(line.replacing(/(^|\$\(|\| )pushhost/) { "\($0.1)\"$P\"" }, in: folder.url)
        }

        /// The result of a command with `--json`.
        func json(_ command: String) async throws -> JSON {
            let program = try await shell("\(command) --json")
            return try #require(try JSON(parsing: program.output)["result"])
        }

        /// Sends a request over the socket of the data folder.
        func post(_ path: String, _ body: String) async throws -> JSON {
            let socket = "--unix-socket pushhost-data/pushhost.sock"
            let program = try await shell("curl -s \(socket) -X POST 'http://localhost\(path)' -d '\(body)'")
            return try JSON(parsing: program.output)
        }

        /// Waits until a run is in a state.
        func until(_ id: String, is state: String) async throws -> JSON {
            var run = JSON.null
            do {
                try await Support.until {
                    run = try await json("pushhost runs show \(id)")
                    return run["state"]?.string == state
                }
            } catch is WaitedInVain {
                Issue.record("\(id) is not \(state): \(run.text())")
            }
            return run
        }
    }

    @Test func `A request runs a script, edits apply to the next run, and invalid arguments are rejected`() async throws {
        let bench = try await Bench(
            "flows: [{ name: greet, script: greet.lua, http: send }]\n",
            [
                "greet.lua": """
                local push = require "push"
                local args = push.args { to = { type = "string", required = true, desc = "whom" }, pin = { type = "string", secret = true } }
                push.log("pin", args.pin)
                local outcome = push.step("send", function() return push.send { to = args.to, alert = "Hi" } end)
                return { state = outcome.state, said = args.pin }
                """
            ])
        let run = try await bench.post("/flows/greet", #"{"to": "Sports", "pin": "UNSPEAKABLE"}"#)
        #expect(run["state"] == "completed" && run["result"]?["state"] == "NoTargetFound")
        let shown = try await bench.shell("pushhost runs show r-1")
        #expect(shown.output.contains("arguments  to=Sports pin=***") && !shown.output.contains("UNSPEAKABLE"))
        let database = try Data(contentsOf: bench.folder.url.appending(path: "pushhost-data/pushhost.sqlite"))
        let log = (try? Data(contentsOf: bench.folder.url.appending(path: "pushhost-data/pushhost.sqlite-wal"))) ?? Data()
        #expect((database + log).range(of: Data("UNSPEAKABLE".utf8)) == nil)

        let refused = try await bench.post("/flows/greet", #"{"too": 1, "pin": 7}"#)
        #expect(refused["code"] == "args.invalid" && refused["status"] == 400)
        #expect(
            refused["detail"]?.string
                == "unknown argument \"too\"; did you mean \"to\"?; pin: it must be a string, not a number; to (whom) is missing")
        try bench.folder.write("greet.lua", Data("return \"new\"".utf8))
        #expect(try await bench.post("/flows/greet", "{}")["result"] == "new")
        try bench.folder.write("greet.lua", Data("return nonsense nonsense".utf8))
        #expect(try await bench.post("/flows/greet", "{}")["code"] == "flow.broken")
        #expect(try await bench.shell("pushhost runs show r-9").status == 4)
        try await bench.end()
    }

    @Test func `A script that loops over host calls ends at its timeout and does not delay the server's shutdown`()
        async throws
    {
        let bench = try await Bench(
            """
            flows:
              - { name: short, script: loop.lua, http: send, timeout: 1s }
              - { name: long, script: loop.lua, http: send }

            """,
            [
                "loop.lua": """
                local push = require "push"
                push.log "begun"
                while true do pcall(push.schedule, { after = "6d", to = "nobody", properties = { message = "x" } }) end
                """
            ])
        _ = try await bench.shell("curl -s --unix-socket pushhost-data/pushhost.sock -X POST 'http://localhost/flows/short' -d '{}'")
        let short = try await bench.until("r-1", is: "failed")
        #expect(short["failure"]?["code"] == "budget.wall", "\(short.text())")
        _ = try await bench.shell(
            "curl -s --unix-socket pushhost-data/pushhost.sock -H 'Prefer: respond-async' -X POST 'http://localhost/flows/long' -d '{}'")
        _ = try await bench.until("r-2", is: "running")
        try await bench.end()
    }

    @Test func `A flow that sends in a loop ends with its CPU budget, which deliveries use too`() async throws {
        let bench = try await Bench(
            "flows: [{ name: loop, script: loop.lua, http: send, cpu_limit: 1s }]\n",
            [
                "loop.lua": """
                local push = require "push"
                for i = 1, 20 do push.install("i" .. i, { platform = "apns", push_channel = ("%064x"):format(i), tags = { "t" } }) end
                while true do pcall(push.send, { to = "t", alert = "x" }) end
                """
            ])
        _ = try await bench.shell("curl -s --unix-socket pushhost-data/pushhost.sock -X POST 'http://localhost/flows/loop' -d '{}'")
        let run = try await bench.until("r-1", is: "failed")
        #expect(run["failure"]?["code"] == "budget.cpu", "\(run.text())")
        try await bench.end()
    }

    @Test func `After kill -9, at-least-once runs are repeated and at-most-once runs are not`() async throws {
        let script = """
            local push = require "push"
            local args = push.args { mark = { type = "string", default = "none" } }
            push.step("begin", function() push.log("began", args.mark) end)
            push.sleep "6h"
            return args.mark
            """
        let quick = script.replacing("push.sleep \"6h\"", with: "")
        var bench = try await Bench(
            """
            flows:
              - { name: again, script: slow.lua, http: send, guarantee: at-least-once }
              - { name: once, script: slow.lua, http: send }

            """, ["slow.lua": script])
        for flow in ["again", "once"] {
            for mark in ["first", "second"] {
                _ = try await bench.json("pushhost runs start \(flow) --arg mark=\(mark)")
            }
        }
        _ = try await bench.until("r-1", is: "running")
        _ = try await bench.until("r-3", is: "running")
        // Runs in progress use the old script, so that none ends before the server is killed.
        try bench.folder.write("slow.lua", Data(quick.utf8))
        try await bench.kill()
        let again = try await bench.until("r-1", is: "completed")
        #expect(again["attempts"] == 2 && again["result"] == "first")
        // The second run was queued and had not started.
        #expect(try await bench.until("r-2", is: "completed")["attempts"] == 1)
        let once = try await bench.until("r-3", is: "interrupted")
        #expect(once["attempts"] == 1 && once["failure"]?["code"] == "run.interrupted")
        #expect(try await bench.until("r-4", is: "completed")["attempts"] == 1)
        #expect(try await bench.json("pushhost runs rerun r-3")["trigger"]?["run"] == "r-3")
        try await bench.end()
    }

    @Test func `A flow that cannot start is reported in advance, and failed runs are counted`() async throws {
        let bench = try await Bench(
            """
            flows:
              - { name: good, script: good.lua, http: send }
              - { name: odd, script: good.lua, args: { nmae: x }, http: send }
              - { name: torn, script: torn.lua, http: send }
              - { name: late, script: late.lua, http: send }

            """,
            [
                "good.lua": """
                local push = require "push"
                local args = push.args { name = { type = "string", default = "y" } }
                assert(args.name == "y", "not my name")
                """, "torn.lua": "return nonsense nonsense",
                "late.lua": "local push = require 'push'\npush.step('fail', function() error('too late') end)",
            ])
        let flows = try await bench.json("pushhost flows")["items"]?.array ?? []
        #expect(flows.map { $0["trouble"] == nil } == [true, true, false, false])
        let shown = try await bench.shell("pushhost flows")
        #expect(shown.output.contains("✗ odd cannot start: unknown argument \"nmae\" of the flow; did you mean \"name\"?\n"))
        #expect(shown.output.contains("✗ torn cannot start: ") && shown.output.contains("torn.lua:1"))
        let doctor = try await bench.shell("pushhost doctor --config pushhost.yaml")
        #expect(
            doctor.output.contains("odd cannot start: unknown argument \"nmae\" of the flow")
                && doctor.output.contains("torn cannot start: "))
        #expect(try await bench.post("/flows/good", "{}")["state"] == "completed")
        #expect(try await bench.post("/flows/good", #"{"name": "z"}"#)["detail"]?.string?.contains("not my name") == true)
        // Only the declaration is read in advance, not the rest of the script.
        let late = try await bench.post("/flows/late", "{}")
        #expect(late["detail"]?.string?.contains("too late (script.error), run r-3") == true && late["code"] == "run.failed")
        let metrics = try await bench.shell("curl -s --unix-socket pushhost-data/pushhost.sock http://localhost/metrics").output
        #expect(metrics.contains(#"pushhost_flow_runs_total{flow="good",state="completed"} 1"#))
        #expect(metrics.contains(#"pushhost_flow_runs_total{flow="good",state="failed"} 1"#))
        #expect(metrics.contains(#"pushhost_flow_runs_unfinished{flow="good"} 0"#) && metrics.contains("pushhost_approvals_waiting 0"))
        try await bench.end()
    }

    @Test func `A registration starts a flow, and the bundled script serves the tutorials' backend`() async throws {
        let script = try String(contentsOf: BuiltProgram.root.appending(path: "scripts/backend_notifications.lua"), encoding: .utf8)
        let bench = try await Bench(
            """
            flows:
              - { name: welcome, script: welcome.lua, events: [registration.created], guarantee: at-least-once }
              - { name: backend, script: backend.lua, backend: notifications }

            """,
            [
                "welcome.lua": """
                local push = require "push"
                local args = push.args { id = { type = "string" }, kind = { type = "string" }, tags = { type = "string" } }
                return push.send({ to = push.tag.device(args.id), properties = { message = "Welcome" } }).sent
                """, "backend.lua": script,
            ])
        let socket = "curl -s --unix-socket pushhost-data/pushhost.sock"
        _ = try await bench.shell(
            #"\#(socket) -X PUT 'http://localhost/hub/installations/pad?api-version=2020-06' -d '{"installationId": "pad", "platform": "apns", "pushChannel": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "tags": ["username:bob"], "templates": {"t": {"body": "{\"aps\": {\"alert\": \"$(message)\"}}"}}}'"#
        )
        let welcome = try await bench.until("r-1", is: "completed")
        #expect(welcome["flow"] == "welcome" && welcome["result"] == 1)
        #expect(welcome["trigger"] == ["kind": "event", "event": "registration.created", "hub": "hub"])
        _ = try await bench.shell("printf 'secret words' | pushhost user add alice --password-stdin")
        let users = try await bench.shell("pushhost user list")
        #expect(users.output.contains("alice"), "\(users.output)")
        let answer = try await bench.shell(
            "\(socket) -u 'alice:secret words' -D - -X POST 'http://localhost/api/notifications?pns=apns&to_tag=bob' -d '\"Lunch?\"'")
        #expect(answer.output.hasPrefix("HTTP/1.1 200") && answer.output.contains("Run-Id: r-2"), "\(answer.output)")
        let run = try await bench.until("r-2", is: "completed")
        #expect(run["trigger"]?["user"] == "alice" && run["notifications"]?.array?.count == 1)
        let secure = try await bench.shell(
            #"\#(socket) -u 'alice:secret words' -X POST 'http://localhost/api/notifications' -d '{"to": "alice", "payload": {"pin": "UNSPEAKABLE"}}'"#
        )
        let id = try #require(try JSON(parsing: secure.output)["id"]?.string)
        let read = try await bench.shell("\(socket) -u 'alice:secret words' 'http://localhost/api/notifications/\(id)'")
        #expect(read.output.contains("UNSPEAKABLE"))
        #expect(try await !bench.shell("pushhost runs show r-3").output.contains("UNSPEAKABLE"))
        try await bench.end()
    }
}
