import Foundation
import HostSupport
import PushModel
import Support
import Testing

@testable import PushHost

/// `pushhost run --target` for an operator: connection errors, confirmations, cleanup.
@Suite struct TargetRunTests {
    private static let send = """
        local push = require "push"
        local outcome = push.send { to = "news", alert = "Hello" }
        return outcome.state
        """

    private static func run(
        _ arguments: [String], script: String = send, environment: [String: String] = [:], settings: String? = nil
    ) async throws -> BuiltProgram {
        let folder = try ScriptFolder(["flow.lua": script])
        if let settings { try folder.write("pushhost.yaml", Data(settings.utf8)) }
        return try await BuiltProgram.run(["run", "flow.lua"] + arguments, in: folder.url, environment: environment)
    }

    @Test func `an untrusted certificate or one for another name is reported`() async throws {
        try await ServedHub.serving { hub in
            let untrusted = try await Self.run(["--target", hub.connectionString(), "--hub", "hub"])
            #expect(untrusted.status == 4 && untrusted.errors.contains("its certificate is not trusted"))
            #expect(untrusted.errors.contains("trust its authority with --authority"))
        }
        let folder = try ScriptFolder()
        let made = try await BuiltProgram.shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out other.pem -days 2 "
                + "-subj /CN=other.example -addext subjectAltName=DNS:other.example 2>&1", in: folder.url)
        #expect(made.status == 0, "\(made.output)")
        let (certificate, key) = (folder.url.appending(path: "other.pem").path, folder.url.appending(path: "key.pem").path)
        try await ServedHub.serving(settings: ["PUSHHOST_TLS_CERTIFICATE": certificate, "PUSHHOST_TLS_KEY": key]) { hub in
            let wrong = try await Self.run(["--target", hub.connectionString(), "--hub", "hub", "--authority", certificate])
            #expect(wrong.status == 4 && wrong.errors.contains("its certificate is for another name"), "\(wrong.errors)")
        }
    }

    @Test func `a wrong key, hub or address is reported once, with exit code 4 or 2`() async throws {
        try await ServedHub.serving { hub in
            let good = try hub.plainConnectionString()
            let cases: [(target: String, hub: String, status: Int32, words: String)] = [
                (good.replacing(/SharedAccessKey=.*/) { _ in "SharedAccessKey=bm9uZQ==" }, "hub", 4, "error[sas.signature]"),
                (good, "hob", 4, "is \"hob\" the right hub?"),
                (good.replacing("http://localhost:\(hub.port)", with: "http://localhost:99999"), "hub", 2, "error[connection.invalid]"),
                ("", "hub", 2, "--target: the value is empty"),
                (good.replacing("http://", with: "sb://"), "hub", 4, "for a plain port write http://"),
                ("http://localhost:\(hub.port)", "hub", 4, "needs a key"),
                (
                    "Endpoint=sb://x/;SharedAccessKeyName=a", "hub", 2,
                    "error[connection.invalid]: invalid connection string: it has no SharedAccessKey"
                ),
                ("staging", "hub", 2, "unknown target \"staging\""),
            ]
            for (target, name, status, words) in cases {
                let run = try await Self.run(["--target", target, "--hub", name])
                #expect(run.status == status && run.errors.contains(words), "\(run.errors)")
                #expect(!run.errors.contains(try hub.key(.full).reveal()) && !run.errors.contains("bm9uZQ"))
            }
        }
    }

    @Test func `a send to production asks for confirmation on a terminal, and is refused without one`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on"]) { hub in
            for number in 1...3 {
                let body = """
                    {"installationId":"d\(number)","platform":"apns","pushChannel":"\(String(repeating: "0", count: 63))\(number)","tags":["news"]}
                    """
                #expect(try await hub.call("PUT", "/hub/installations/d\(number)?api-version=2020-06", body: body).status == 200)
            }
            let settings = "targets: { live: { connection: \"\(try hub.plainConnectionString())\", hub: hub, production: true } }\n"
            let refused = try await Self.run(["--target", "live"], settings: settings)
            #expect(refused.status == 5)
            #expect(
                refused.errors.contains(
                    "error[policy.production]: live is marked as production: this sends to \"news\", 3 devices, which needs confirmation"))
            let said = try await Self.run(["--target", "live", "--yes"], settings: settings)
            #expect(said.status == 0 && said.output.contains("3 of 3 sent"), "\(said.output)\(said.errors)")
            #expect(said.errors.contains("live is marked as production: this sends to \"news\", 3 devices."))
            for (answer, status, words) in [("y", 0, "3 of 3 sent"), ("", 5, "nothing was done")] as [(String, Int32, String)] {
                let folder = try ScriptFolder(["flow.lua": Self.send, "pushhost.yaml": settings])
                let dialogue = try Dialogue(["run", "flow.lua", "--target", "live"], in: folder.url, onTerminal: true)
                try await dialogue.hear("this sends to \"news\", 3 devices. [y/N] ")
                dialogue.say("\(answer)\n")
                try await dialogue.hear(words)
                #expect(await dialogue.end(closingInput: false).status == status)
            }
        }
    }

    @Test func `a production target asks for confirmation in a lab too, while its time stands still`() async throws {
        let environment = ["PUSHHOST_LAB_KEY": "let-me-in"]
        try await ServedHub.serving(settings: environment.merging(["PUSHHOST_LAB": "on"]) { $1 }) { hub in
            let settings = "targets: { live: { url: \"http://localhost:\(hub.port)\", production: true } }\n"
            let opening = """
                local push = require "push"
                push.subscribe { device = push.device { name = "a" }, categories = { "news" } }
                local function send() return push.send { to = "news", properties = { messageParam = "a" } } end

                """
            let script = """
                \(opening)
                local begin = push.clock.now()
                push.all { function() send() print("waited", push.clock.now() - begin) end,
                    function() push.sleep "1h" end }
                """
            let refused = try await Self.run(
                ["--target", "live"], script: opening + "send()", environment: environment,
                settings: settings)
            #expect(refused.status == 5, "\(refused.errors)")
            #expect(
                refused.errors.contains(
                    "error[policy.production]: live is marked as production: this sends to \"news\", 1 device, which needs confirmation"))
            let said = try await Self.run(["--target", "live", "--yes"], script: script, environment: environment, settings: settings)
            #expect(said.status == 0 && said.errors.contains("this sends to \"news\", 1 device."), "\(said.output)\(said.errors)")
            let folder = try ScriptFolder(["flow.lua": script, "pushhost.yaml": settings])
            let run = try Dialogue(["run", "flow.lua", "--target", "live"], in: folder.url, environment: environment, onTerminal: true)
            try await run.hear("[y/N] ")
            run.say("y\n")
            let (output, status) = await run.end(closingInput: false)
            #expect(status == 0 && output.contains(/waited\s+0/), "\(output)")
        }
    }

    @Test func `notifications left scheduled in a lab are reported with the command that cancels them`() async throws {
        let environment = ["PUSHHOST_LAB_KEY": "let-me-in"]
        try await ServedHub.serving(settings: environment.merging(["PUSHHOST_LAB": "on"]) { $1 }) { hub in
            let script = """
                local push = require "push"
                push.schedule { after = "2h", to = "news", alert = "later" }
                push.cancel(push.schedule { after = "2h", to = "news", alert = "never" }.id)
                """
            let run = try await Self.run(["--target", "http://localhost:\(hub.port)"], script: script, environment: environment)
            let told = run.output + run.errors
            #expect(run.status == 0 && told.ranges(of: "warning[schedule.left]").count == 1 && !told.contains("never sent"), "\(told)")
            let id = try #require(told.firstMatch(of: /pushhost notification cancel (\S+) on the server/)).1
            let cancelled = try await hub.command(["notification", "cancel", String(id)])
            #expect(cancelled.status == 0, "\(cancelled.errors)")
        }
    }

    @Test func `confirmations are asked one at a time, after the header, and end with the run`() async throws {
        try await ServedHub.serving { hub in
            let settings = "targets: { live: { connection: \"\(try hub.plainConnectionString())\", hub: hub, production: true } }\n"
            let script = """
                local push = require "push"
                push.all { function() push.send { to = "news", alert = "a" } end, function() push.send { to = "sports", alert = "b" } end }
                """
            let folder = try ScriptFolder(["flow.lua": script, "pushhost.yaml": settings])
            let run = try Dialogue(["run", "flow.lua", "--target", "live"], in: folder.url, onTerminal: true)
            let before = try await run.hear("0 devices. [y/N] ")
            #expect(before.contains("flow · live · seed 1"))
            run.say("y\n")
            let between = try await run.hear("0 devices. [y/N] ")
            for tag in ["news", "sports"] { #expect((before + between).contains("this sends to \"\(tag)\"")) }
            run.signal(SIGINT)
            #expect(await run.end(closingInput: false).status == 130)
        }
    }

    @Test func `on the server's own machine --hub is needed if there are several hubs, and must exist`() async throws {
        try await ServedHub.serving { hub in
            #expect(try await hub.command(["hub", "create", "news"]).status == 0)
            let settings = "data: \"\(hub.data.path)\"\n"
            let target = "http://localhost:\(hub.port)"
            for (arguments, status, words) in [
                ([], 2, "error[usage.hub]: no hub chosen: the server has 2 hubs"),
                (["--hub", "new"], 4, "has no hub \"new\"; did you mean \"news\"?"),
                (["--hub", "news"], 0, nil),
            ] as [([String], Int32, String?)] {
                let run = try await Self.run(["--target", target] + arguments, settings: settings)
                #expect(run.status == status && (words.map { run.errors.contains($0) } ?? run.errors.isEmpty), "\(run.errors)")
            }
        }
    }

    @Test func `a run accepts the connection string that a server without TLS shows`() async throws {
        let folder = try ScriptFolder()
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--reveal"], in: folder.url)
        let shown = try #require(try await server.hear("Press Ctrl-C to stop.").firstMatch(of: /full +(Endpoint=\S+)/)).1
        let run = try await Self.run(["--target", String(shown), "--hub", "hub"])
        #expect(run.status == 0, "\(shown) \(run.errors)")
        let listed = try await BuiltProgram.run(["key", "list", "--hub", "hub", "--reveal", "--data", "data"], in: folder.url)
        #expect(listed.output.contains(shown.split(separator: ";")[0]))
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `an interrupted run leaves nothing behind in the lab`(signal: Int32) async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on", "PUSHHOST_LAB_KEY": "let-me-in"]) { hub in
            let script = """
                local push = require "push"
                push.subscribe { device = push.device { name = "a" }, categories = { "news" } }
                print "subscribed"
                while true do push.sleep "1h" end
                """
            let folder = try ScriptFolder(["flow.lua": script])
            let run = try Dialogue(
                ["run", "flow.lua", "--target", "http://localhost:\(hub.port)"], in: folder.url,
                environment: ["PUSHHOST_LAB_KEY": "let-me-in"])
            try await run.hear("subscribed")
            run.signal(signal)
            #expect(await run.end(closingInput: false).status == 130)
            let left = try await hub.call("GET", "/hub/registrations?api-version=2020-06")
            #expect(left.status == 200 && !left.body.contains("<entry"))
        }
    }

    @Test func `--trace in a lab shows matching, rendering and wire exchanges, each once`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on", "PUSHHOST_LAB_KEY": "let-me-in"]) { hub in
            let script = """
                local push = require "push"
                push.subscribe { device = push.device { name = "a" }, categories = { "news" } }
                push.send { to = "news", properties = { messageParam = "Hello" } }
                """
            let arguments = ["--trace", "--json"]
            let remote = try await Self.run(
                arguments + ["--target", "http://localhost:\(hub.port)"], script: script, environment: ["PUSHHOST_LAB_KEY": "let-me-in"])
            let embedded = try await Self.run(arguments, script: script)
            for area in ["audience", "render", "delivery"] {
                #expect(try remote.traces(of: area) == embedded.traces(of: area) && remote.traces(of: area) > 0, "\(remote.output)")
            }
            let crossed = remote.output.ranges(of: "/3/device/").count
            #expect(crossed == embedded.output.ranges(of: "/3/device/").count && crossed > 0)
            #expect(!remote.output.contains("/trace") && !remote.output.contains("let-me-in"))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a run ends at its timeout when the lab stops responding, and reports what may be left`() async throws {
        let environment = ["PUSHHOST_LAB_KEY": "let-me-in"]
        try await ServedHub.serving(settings: environment.merging(["PUSHHOST_LAB": "on"]) { $1 }) { hub in
            // The target's timeout is much longer than the run's.
            let folder = try ScriptFolder([
                "flow.lua": """
                local push = require "push"
                push.device { name = "a" }
                print "ready"
                while true do push.sleep "1h" end
                """,
                "pushhost.yaml": "targets: { lab: { url: \"http://localhost:\(hub.port)\", timeout: 1h } }\n",
            ])
            let run = try Dialogue(["run", "flow.lua", "--target", "lab", "--timeout", "30s"], in: folder.url, environment: environment)
            // The run does nothing until the server is stopped.
            try await run.hear("ready", thenSignal: SIGSTOP)
            try await hub.standing {
                run.signal(SIGCONT)
                let (output, status) = await run.end(closingInput: false)
                #expect(status == 3 && output.contains("budget.wall"), "\(output)")
                #expect(output.contains("warning[target.timeout]: the target did not respond before the time limit"), "\(output)")
                #expect(
                    output.contains("the lab may not have ended the run's session: the lab did not close the session within 15"),
                    "\(output)")
                let late = try await BuiltProgram.run(
                    ["run", "flow.lua", "--target", "lab", "--timeout", "1s"], in: folder.url, environment: environment)
                #expect(
                    late.status == 4 && late.errors.contains("error[target.timeout]: lab could not be reached within 1"), "\(late.errors)")
            }
        }
    }

    @Test func `if the timeout ends the retries, the reason is that of the last attempt`() async throws {
        let run = try await Self.run(["--target", "http://localhost:1", "--timeout", "1s"])
        #expect(
            run.status == 4 && run.errors.contains("could not be reached within 1") && run.errors.contains("connection refused")
                && run.errors.contains("is the server running?"), "\(run.errors)")
    }

    @Test func `a second interrupt while the lab hangs warns about what may be left`() async throws {
        let environment = ["PUSHHOST_LAB_KEY": "let-me-in"]
        try await ServedHub.serving(settings: environment.merging(["PUSHHOST_LAB": "on"]) { $1 }) { hub in
            let folder = try ScriptFolder([
                "flow.lua": "local push = require \"push\"\nprint \"ready\"\nwhile true do push.sleep \"1h\" end\n"
            ])
            let run = try Dialogue(
                ["run", "flow.lua", "--target", "http://localhost:\(hub.port)"], in: folder.url, environment: environment)
            try await run.hear("ready")
            try await hub.standing {
                run.signal(SIGINT)
                // At once: the run stops waiting after 15 seconds.
                try await run.hear("press Ctrl-C to stop waiting", thenSignal: SIGINT)
                let (output, status) = await run.end(closingInput: false)
                #expect(status == ExitStatus.interrupted)
                #expect(output.contains("warning: the lab may not have ended the run's session"), "\(output)")
            }
        }
    }

    @Test func `invalid settings are reported before any connection, with exit code 2`() async throws {
        let run = try await Self.run(["--target", "a"], settings: "targets: { a: { conection: x } }\n")
        #expect(run.status == 2 && run.errors.contains("did you mean \"connection\"?"))
    }

    @Test func `demo secrets work only in rehearsals`() async throws {
        try await ServedHub.serving { hub in
            let script = BuiltProgram.root.appending(path: "scripts/notify_users.lua").path
            let run = try await BuiltProgram.run(["run", script, "--target", hub.plainConnectionString(), "--hub", "hub"])
            #expect(run.status == 1 && run.errors.contains("unknown secret \"demo_password\""))
        }
    }

    @Test func `--trace shows every request and no key`() async throws {
        try await ServedHub.serving { hub in
            let run = try await Self.run(["--trace", "--target", hub.plainConnectionString(), "--hub", "hub"])
            #expect(run.output.contains("POST http://localhost:\(hub.port)/hub/messages 201"))
            #expect(!run.output.contains(try hub.key(.full).reveal()) && !run.output.contains("sig="))
        }
    }
}

extension BuiltProgram {
    /// The number of trace entries in an area of a report.
    fileprivate func traces(of area: String) throws -> Int {
        let trace = try JSON(parsing: output)["trace"]?.array ?? []
        return trace.count { $0["area"]?.string == area }
    }
}
