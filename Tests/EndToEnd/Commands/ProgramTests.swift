import Foundation
import HostSupport
import PushModel
import Support
import Testing

@Suite struct ProgramTests {
    private static let notify = "scripts/notify_users.lua"

    @Test func `a bundled flow passes, with text output and with --json`() async throws {
        let text = try await BuiltProgram.run(["run", Self.notify])
        #expect(text.status == 0)
        #expect(text.errors == "")
        let lines = text.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("notify_users · embedded · seed 1") == true)
        #expect(lines.last == "PASS  1 flow · 3 steps · 3 expectations · shown on 2 phones · 2 delivered · virtual 0 s")
        #expect(!text.output.contains("\u{1b}"))
        let json = try await BuiltProgram.run(["run", Self.notify, "--json", "--user", "bob", "--devices=3"])
        let document = try JSON(parsing: json.output)
        #expect(document["schema"]?.string == "pushhost.run/1")
        #expect(document["verdict"]?.string == "pass")
        #expect(document["exit_code"]?.int == 0)
        #expect(document["result"]?["sent"]?.int == 3)
        #expect(document["steps"]?.array?.count == 3)
        #expect(document["error"]?.isNull == true)
        #expect(document["trace"] == nil)
        #expect(json.status == 0)
    }

    @Test func `a mark shows whether a send was complete`() async throws {
        let script = """
            local push = require "push"
            push.subscribe { device = push.device { name = "a" }, categories = { "news" } }
            push.send { to = "news", properties = { messageParam = "Hello" } }
            push.send { to = "news", properties = { messageParam = "Hello" }, test = true }
            push.send { to = "nobody", alert = "Hello" }
            """
        let folder = try ScriptFolder(["flow.lua": script])
        let run = try await BuiltProgram.run(["run", "flow.lua"], in: folder.url)
        let marks = run.output.split(separator: "\n").filter { $0.contains(" send n-") }.compactMap { $0.firstMatch(of: /[✓!]/)?.output }
        #expect(marks == ["✓", "✓", "!"], "\(run.output)")
    }

    @Test(
        arguments: [
            ("return 1", 0, "PASS"), ("push.check(false)", 1, "FAIL"), ("push.expect(1).to.equal(2)", 1, "FAIL"),
            ("push.fail 'x'", 1, "FAIL"), ("error 'x'", 1, nil), ("push.send {}", 3, "ERROR"), ("(", 3, "ERROR"),
            ("error { code = 'target.unsupported', message = 'x' }", 4, nil),
            ("push.send { to = 'nobody', alert = 'x' }", 0, "PASS"),
            ("for i = 1, 100000 do print(('x'):rep(1000)) end", 3, "ERROR"),
        ] as [(String, Int32, String?)])
    func `the exit code and the last line give the verdict of the run`(lua: String, status: Int32, word: String?) async throws {
        let folder = try ScriptFolder(["flow.lua": "local push = require 'push' \(lua)"])
        let run = try await BuiltProgram.run(["run", "flow.lua"], in: folder.url)
        #expect(run.status == status)
        let last = run.output.split(separator: "\n").last ?? ""
        if let word { #expect(last.hasPrefix(word)) }
        #expect(status == 0 || run.errors.contains("flow.lua:1") || run.errors.contains("error["))
        let json = try await BuiltProgram.run(["run", "--json", "flow.lua"], in: folder.url)
        #expect(json.status == status)
        #expect(try JSON(parsing: json.output)["exit_code"]?.int == Int(status))
    }

    @Test func `--fail-on-no-target fails a run whose send reaches no device`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').send { to = 'nobody', alert = 'x' }"])
        #expect(try await BuiltProgram.run(["run", "flow.lua", "--fail-on-no-target"], in: folder.url).status == 6)
    }

    @Test func `exceeding a budget ends a run with 3`() async throws {
        let folder = try ScriptFolder(["flow.lua": "while true do pcall(function() while true do end end) end"])
        for option in ["--cpu-limit", "--timeout"] {
            let run = try await BuiltProgram.run(["run", "flow.lua", option, "200ms"], in: folder.url)
            #expect(run.status == 3)
            #expect(run.errors.contains("error[budget."))
        }
    }

    @Test(
        arguments: [
            (["run", "scripts/notify_users.lua", "--usr", "bob"], "did you mean \"--user\"?"),
            (["run", "scripts/notify_users.lua", "--devices", "0"], "the minimum is 1"),
            (["run", "scripts/notify_users.lua", "stray"], "unexpected argument \"stray\""),
            (["run", "--sead", "3", "scripts/notify_users.lua"], "--seed"),
            (["run", "--seed", "x", "scripts/notify_users.lua"], "seed"),
            (["run", "--timeout", "soon", "scripts/notify_users.lua"], "invalid duration"),
            (["run", "--memory-limit", "0", "scripts/notify_users.lua"], "from 1 to 65536"),
            (["run"], "missing argument FILE"), (["rn"], "rn"),
            (["run", "scripts/notify_user.lua"], "did you mean scripts/notify_users.lua?"),
            (["run", "scripts/nowhere.lua"], "does not exist"), (["run", "scripts"], "is a directory"),
            (["run", "/dev/zero"], "more than 4 MiB"),
        ])
    func `an invalid command line ends with 2 and the reason`(arguments: [String], part: String) async throws {
        let run = try await BuiltProgram.run(arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains(part), "\(run.errors)")
        #expect(run.output == "")
    }

    @Test func `an invalid script file is rejected with the reason`() async throws {
        let folder = try ScriptFolder()
        try folder.write("latin.lua", Data("local x = 1\n-- caf".utf8) + [0xe9, 0x0a])
        try folder.write("nul.lua", Data([0x2d, 0x2d, 0x00, 0x0a]))
        let latin = try await BuiltProgram.run(["run", "latin.lua"], in: folder.url)
        #expect(latin.status == 2)
        #expect(latin.errors.contains("latin.lua is not UTF-8: line 2"))
        #expect(try await BuiltProgram.run(["run", "nul.lua"], in: folder.url).errors.contains("NUL"))
        let huge = try await BuiltProgram.shell("truncate -s 100M huge.lua && $P run huge.lua", in: folder.url)
        #expect(huge.status == 2)
        #expect(huge.errors.contains("huge.lua has more than 4 MiB, the limit of a script"))
    }

    @Test func `--help of a flow prints its comment and options without running it`() async throws {
        let help = try await BuiltProgram.run(["run", Self.notify, "--help"])
        #expect(help.status == 0)
        #expect(help.output.hasPrefix("Notify every device of one user."))
        #expect(help.output.contains("--devices <integer>"))
        #expect(help.output.contains("(default: alice)"))
        let folder = try ScriptFolder(["flow.lua": "-- Sleeps.\nrequire('push').sleep '1h'"])
        let bare = try await BuiltProgram.run(["run", "flow.lua", "--help"], in: folder.url)
        #expect(bare.status == 0)
        #expect(bare.output.contains("This flow has no options."))
        #expect(try await BuiltProgram.run(["run", "--help"]).output.contains("--seed"))
        #expect(try await BuiltProgram.run(["--help"]).status == 0)
        #expect(try await BuiltProgram.run(["--version"]).status == 0)
    }

    @Test(
        arguments: [
            (#"push.tag.user(args.user), alert"#, #""username:nobody", alert"#, 26),
            (#"to.equal "Completed""#, #"to.equal "Queued""#, 26), ("within = \"5s\" }).to.exist()", "within = \"5s\" }).to.be_nil()", 28),
            (#"alert = args.text, within"#, #"alert = "Another text", within"#, 28),
            (#"tags = { "phone" }"#, #"tags = { "two words" }"#, 17), (#"platform = "apns""#, #"platfrom = "apns""#, 16),
            ("alert = args.text }", "alret = args.text }", 22),
            ("session:register", "session:regster", 17), ("push.expect(outcome.state)", "push.expct(outcome.state)", 26),
            ("password = push.secret \"demo_password\" }\nlocal phones", "password = \"wrong\" }\nlocal phones", 11),
            ("local outcome = push", "local outcome = = push", 21),
        ])
    func `one broken line fails the flow, and the message names the line`(
        right: String, wrong: String, line: Int
    ) async throws {
        let script = try String(contentsOf: BuiltProgram.root.appending(path: Self.notify), encoding: .utf8)
        try #require(script.ranges(of: right).count == 1, "\(right)")
        let folder = try ScriptFolder(["notify_users.lua": script.replacing(right, with: wrong)])
        let run = try await BuiltProgram.run(["run", "notify_users.lua"], in: folder.url)
        #expect(run.status == 1 || run.status == 3)
        #expect(run.errors.contains("notify_users.lua:\(line):"), "\(run.errors)")
    }

    @Test func `an interrupted flow runs its cleanup and ends with 130, even if it catches every error`() async throws {
        let folder = try ScriptFolder([
            "flow.lua": """
            local push = require "push"
            local begin = function() print(("x"):rep(70000)) end
            while true do
              local ok, err = pcall(function() if begin then begin() end begin = nil while true do end end)
              if err.code == "cancelled" then print "cleaned up" end
            end
            """,
            "sleeper.lua": """
            local push = require "push"
            local begin = function() print(("x"):rep(70000)) end
            while true do
              local ok, err = pcall(function() if begin then begin() end begin = nil while true do push.sleep "1s" end end)
              if err.code == "cancelled" then print "cleaned up" end
            end
            """,
        ])
        for name in ["flow.lua", "sleeper.lua"] {
            let run = try await BuiltProgram.run(["run", name, "--cpu-limit", "60s"], in: folder.url, began: { $0.signal(SIGINT) })
            #expect(run.status == 130)
            #expect(!run.wasKilled)
            #expect(run.output.contains("cleaned up"), "\(name)")
            #expect(run.output.split(separator: "\n").last?.hasPrefix("INTERRUPTED") == true)
        }
    }

    @Test func `output that cannot be written fails the run`() async throws {
        for sink in [">/dev/full", ">&-"] {
            for option in ["", "--json", "--trace", "--help"] {
                let run = try await BuiltProgram.shell("$P run \(Self.notify) \(option) \(sink)")
                #expect(run.status == 1, "\(option) \(sink)")
                #expect(run.errors.contains("standard output could not be written"), "\(option) \(sink)")
            }
        }
        let broken = try await BuiltProgram.shell("$P run \(Self.notify) --trace | true; $P run \(Self.notify) >&- 2>&-; echo $?")
        #expect(broken.output == "1\n")
    }

    @Test func `secrets of the environment take precedence and never appear in the output`() async throws {
        let folder = try ScriptFolder([
            "flow.lua": """
            local push = require "push"
            local secret = push.secret "demo_password"
            push.account { username = "alice", password = secret }
            local s = push.login { username = "alice", password = secret }
            for _, name in ipairs { "apns", "fcm", "gcm", "wns" } do
              s:register { device = push.device { name = name, platform = name } }
            end
            push.send { to = "username:alice", alert = "Hello" }
            print(secret, push.json.encode(push.wire()))
            push.login { username = "alice", password = push.secret "other" }
            """
        ])
        let values = ["PUSHHOST_SECRET_DEMO_PASSWORD": "s3cr3t-of-env", "PUSHHOST_SECRET_OTHER": "0ther-s3cr3t"]
        for options in [[], ["--trace"], ["--json", "--trace"]] {
            let run = try await BuiltProgram.run(["run", "flow.lua"] + options, in: folder.url, environment: values)
            #expect(run.status == 1)
            for secret in Array(values.values) + ["battery", "eyJ"] {
                #expect(!run.output.contains(secret) && !run.errors.contains(secret), "\(secret)")
            }
        }
    }

    @Test func `a script cannot print control sequences to the terminal`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print('\\27[31mred\\r\\7') error('\\27]0;x\\7')"])
        let run = try await BuiltProgram.run(["run", "flow.lua"], in: folder.url)
        #expect(!run.output.contains("\u{1b}") && !run.errors.contains("\u{1b}"))
        #expect(run.output.contains("\\u{1b}[31mred"))
    }

    @Test(arguments: [[], ["--trace"], ["--json"], ["--json", "--trace"]])
    func `the same seed prints the same bytes, on an idle and on a busy machine`(options: [String]) async throws {
        let folder = try ScriptFolder(["crowd.lua": Self.crowd])
        let scripts = [
            BuiltProgram.root.appending(path: Self.notify).path, folder.url.appending(path: "crowd.lua").path,
        ]
        for script in scripts {
            let arguments = ["run", "--seed", "7", script] + options
            let calm = try await BuiltProgram.run(arguments, in: folder.url)
            let load = try Child("/bin/sh", ["-c", "while :; do :; done"], in: "/")
            let busy = try await BuiltProgram.run(arguments, in: folder.url)
            load.signal(SIGKILL)
            _ = await load.end()
            #expect(calm.status == busy.status)
            #expect(calm.output == busy.output)
            #expect(calm.errors == busy.errors)
            #expect(!calm.output.isEmpty)
        }
    }

    static let crowd =
        "local push = require \"push\" "
            + """
            local function login(name) push.account { username = name, password = push.secret "demo_password" }
            return push.login { username = name, password = push.secret "demo_password" } end
            """ + "\n" + TaskTests.crowd
}
