import Foundation
import HostSupport
import Support
import Testing

/// `pushhost repl`, through a pipe and on a terminal.
@Suite struct ReplTests {
    /// Runs the lines through a pipe.
    private func repl(_ lines: String, _ options: [String] = [], in folder: URL = BuiltProgram.root) async throws -> BuiltProgram {
        let file = try ScriptFolder(["lines": lines])
        let line = "$P repl \(options.joined(separator: " ")) < \(file.url.path)/lines"
        return try await BuiltProgram.shell(line, in: folder)
    }

    @Test func `through a pipe the output is that of a session without prompts`() async throws {
        let session = try await repl(
            """
            local phone = push.device { name = "alice-1" }
            push.account { username = "alice", password = "x" }
            local s = push.login { username = "alice", password = "x" }
            s:register({ device = phone }).platform

            for _, text in ipairs { "one", "two" } do
              print(push.send({ to = "username:alice", alert = text }).id)
            end
            phone, s
            x = 5
            """)
        #expect(
            session.output == """
                "created"
                "apns"
                  ✓ send n-0001 to username:alice  1 of 1 sent · 0 failed
                      alice-1  iPhone  en-US  ▌one
                  │ n-0001
                  ✓ send n-0002 to username:alice  1 of 1 sent · 0 failed
                      alice-1  iPhone  en-US  ▌two
                  │ n-0002
                device alice-1\tsession of alice

                """)
        #expect(session.errors == "")
        #expect(session.status == 0)
    }

    @Test(
        arguments: [
            ("1", 0), ("error 'x'", 1), ("error 'x'\n1", 1), ("for", 1), ("push.check(false)", 1), (".nothing", 1), (".quit\nerror 'x'", 0),
            ("", 0),
            ("push.spawn(function() error 'x' end)", 1), ("push.send { to = 'nobody', alert = 'x' }", 0), ("\n\n.clock\n", 0),
            (".5 + 1", 0), ("...", 0), ("\u{feff}x = 1", 0), ("#!/usr/bin/pushhost\n#'abc'", 0), ("function f()", 1),
            ("f(\n\n1", 1),
        ] as [(String, Int32)])
    func `through a pipe the exit code shows whether every line succeeded`(lines: String, status: Int32) async throws {
        let session = try await repl(lines)
        #expect(session.status == status)
        #expect((status == 0) == session.errors.isEmpty, "\(session.errors)")
    }

    @Test func `blank lines are part of an incomplete statement, typed, piped or pasted`() async throws {
        let lines = "function f()\n  local a = 1\n\n  return a\nend\nf()\ns = [[a\n\nb]]\ns\n"
        let piped = try await repl(lines)
        #expect(piped.output == "1\n\"a\\n\\nb\"\n")
        #expect(piped.status == 0)
        let session = try Dialogue(["repl"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("\u{1b}[200~function f()\r\n\tlocal a = 'x\ty'\r\n\r\n\treturn a\r\nend\r\n\u{1b}[201~f()\r")
        try await session.hear("\u{1b}[?2004l\"x\\9y\"")
        session.say("\u{4}")
        #expect(await session.end().status == 0)
    }

    @Test func `any raised value is shown`() async throws {
        let session = try await repl(
            """
            error({ code = 1, { "a" } })
            error(push.secret "demo_password")
            error({ message = "mine" })
            """)
        #expect(
            session.errors.contains("error[1]: the script raised { { \"a\" }, code = 1 }")
                || session.errors.contains("the script raised { { \"a\" }, code = 1 }"))
        #expect(session.errors.contains("the script raised ***"))
        #expect(session.errors.contains("mine"))
    }

    @Test func `a Lua error has a hint that uses names of earlier lines`() async throws {
        let session = try await repl(
            """
            phone = push.device { name = "p" }
            .clock
            = nonsense
            function f() return phnoe:inbox() end
            f()
            "a" .. true
            """)
        #expect(session.errors.contains("repl:4:"))
        #expect(session.errors.contains("did you mean \"phone\"?"), "\(session.errors)")
        #expect(session.errors.contains("tostring("), "\(session.errors)")
    }

    @Test func `an error shows its line, and the session continues`() async throws {
        let session = try await repl(
            """
            push.send { tags = "x" }
            function f()
              error { code = "mine", message = "boom" }
            end
            f()
            "still here"
            for i = 1,

            """)
        #expect(session.output == "\"still here\"\n")
        #expect(
            session.errors.hasPrefix(
                """
                error[args.unknown_key]: push.send has no key "tags"; did you mean "to"?
                  repl:1:13
                   1 | push.send { tags = "x" }
                     |             ^

                """))
        #expect(
            session.errors.hasSuffix(
                """
                error[mine]: boom
                  repl:3:3
                   3 |   error { code = "mine", message = "boom" }
                     |   ^
                  called at line 5
                error[script.syntax]: a value is missing before the end of the file
                  repl:7:11
                   7 | for i = 1,
                     |           ^
                  more      pushhost explain script.syntax

                """))
    }

    @Test func `each line is evaluated before the next one is read`() async throws {
        let session = try Dialogue(["repl"])
        session.say("x = 20\nx + 1\n")
        try await session.hear("21\n")
        session.say("function f()\n  return x * 2\n")
        session.say("end\nf()\n")
        try await session.hear("40\n")
        session.say("error 'bo")
        session.say("om'\nprint 'next'\n")
        try await session.hear("error[script.error]: boom")
        try await session.hear("│ next\n")
        session.say("'without an end of line'")
        let (rest, status) = await session.end()
        #expect(rest == "\"without an end of line\"\n")
        #expect(status == 1)
    }

    @Test func `handlers of phones stay active between lines`() async throws {
        let session = try await repl(
            """
            phone = push.device { name = "p" }
            push.account { username = "a", password = "x" }
            push.login({ username = "a", password = "x" }):register({ device = phone }).etag
            phone:on_push(function(item) push.sleep "1m" phone:show { body = "woken" } end)
            silent = { apns = { aps = { ["content-available"] = 1 } } }
            push.send({ to = "username:a", payload = silent, headers = { apns = { ["apns-push-type"] = "background" } } }).sent
            "nothing yet"
            push.sleep "2m"
            push.send({ to = "username:a", payload = silent, headers = { apns = { ["apns-push-type"] = "background" } } }).sent
            phone:wait_for({ alert = "woken" }).text
            """)
        let lines = session.output.split(separator: "\n")
        let (nothing, woken) = (lines.firstIndex(of: "\"nothing yet\""), lines.firstIndex { $0.contains("▌woken") })
        #expect(session.errors == "")
        #expect(try #require(nothing) < #require(woken))
        #expect(lines.last == "\"woken\"")
    }

    @Test func `the dot commands show the session`() async throws {
        let session = try await repl(
            """
            .help
            .help push.send
            .help inbox
            .clock
            push.sleep "1h"
            .clock
            s = push.account { username = "a", password = "x" } and push.login { username = "a", password = "x" }
            phone = push.device { name = "p", platform = "fcm", user = "a", locale = "pt-PT" }
            .devices
            r = s:register { device = phone }
            r = push.send { to = "username:a", alert = "x" }
            .wire apns
            .wire
            .wire carrier-pigeon
            .help sned
            """)
        #expect(session.output.contains("\n  push.test.after_each "))
        #expect(session.output.contains("ERRORS:\n  hub.no_target"))
        #expect(session.output.contains("device:inbox()"))
        #expect(session.output.contains("2026-01-05T09:00:00.000Z\n2026-01-05T10:00:00.000Z\n"))
        #expect(session.output.contains("p             fcm     pt-PT  "))
        #expect(session.output.contains("> POST https://fcm.googleapis.com"))
        #expect(!session.output.contains("api.push.apple.com"))
        #expect(session.errors.contains("carrier-pigeon"))
        #expect(session.errors.contains("did you mean push.send?"))
        #expect(!session.output.contains("eyJ"))
    }

    @Test func `invalid or endless input is rejected, and a failing output ends the session`() async throws {
        let folder = try ScriptFolder()
        try folder.write("latin", Data("'a'\n'caf".utf8) + [0xe9] + Data("'\n'b'\r\n1\0\n".utf8))
        let latin = try await BuiltProgram.shell("$P repl < latin", in: folder.url)
        #expect(latin.output == "\"a\"\n\"b\"\n")
        #expect(latin.errors.contains("error[script.encoding]"))
        #expect(latin.status == 1)
        let zeros = try await BuiltProgram.shell("$P repl < /dev/zero", in: folder.url)
        #expect(zeros.errors.contains("error[input.too_large]"))
        #expect(zeros.status == 1)
        #expect(try await BuiltProgram.shell("$P repl < .", in: folder.url).errors.contains("error[input.failed]"))
        #expect(try await BuiltProgram.shell("$P repl <&-", in: folder.url).status == 1)
        let full = try await BuiltProgram.shell("echo 1 | $P repl > /dev/full", in: folder.url)
        #expect(full.status == 1)
        #expect(full.errors.contains("error[output.failed]"))
        #expect(try await BuiltProgram.shell("yes 1 | $P repl | head -n 2", in: folder.url).output == "1\n1\n")
        #expect(try await BuiltProgram.run(["repl", "--sead", "1"]).status == 2)
    }

    @Test func `no printed value can send control sequences to the terminal`() async throws {
        let session = try await repl(
            "'\\27[31m'\nprint '\\27]0;x\\7'\nerror '\\27[2J'\nsetmetatable({}, { __tostring = function() return '\\27[1m' end })\n")
        #expect(!session.output.contains("\u{1b}") && !session.errors.contains("\u{1b}"))
    }

    @Test func `the same lines print the same bytes, on an idle and on a busy machine`() async throws {
        let lines = """
            t = {}
            for i = 1, 20 do t[i] = push.spawn(function() push.devices() push.sleep(i % 7) print(i, math.random(100)) end) end
            for i = 1, 3 do push.device { name = "p" .. i, platform = ({ "apns", "fcm", "wns" })[i] } end
            push.sleep "3s"
            for _, task in ipairs(t) do task:await() end
            push.spawn(function() while true do push.sleep "1m" print(push.clock.iso()) end end)
            push.sleep "5m"
            push.devices()
            """
        let calm = try await repl(lines, ["--trace", "--seed", "7"])
        let load = try Child("/bin/sh", ["-c", "while :; do :; done"], in: "/")
        let busy = try await repl(lines, ["--trace", "--seed", "7"])
        load.signal(SIGKILL)
        _ = await load.end()
        #expect(calm.output == busy.output)
        #expect(calm.errors == "")
        #expect(calm.output.contains("{ device p1, device p2, device p3 }"))
    }

    @Test func `budgets and tutorial mode are options, as for a run`() async throws {
        let tutorial = try await repl("push.login { username = 'alice', password = 'alice' }", ["--tutorial-mode"])
        #expect(tutorial.status == 0)
        #expect(tutorial.output.contains("session of alice"))
        #expect((tutorial.output + tutorial.errors).contains("tutorial mode is on"))
        let small = try await repl(
            "while true do end\nlocal t = {} for i = 1, 1e9 do t[i] = i end\n1", ["--cpu-limit=50ms", "--memory-limit=8"])
        #expect(small.status == 1)
        #expect(small.errors.contains("CPU budget of 50 ms"))
        #expect(small.output.hasSuffix("1\n"))
        #expect(try await repl("1", ["--memory-limit=0"]).status == 2)
        // The prompt continues so that the session can be inspected, but the Lua state has ended.
        let ended = try await repl("local t = {} for i = 1, 300000 do t[i * 131071] = i end\n1")
        #expect(ended.status == 1)
        #expect(ended.output.isEmpty)
        #expect(ended.errors.contains("error[budget.step]") && ended.errors.contains("error[state.ended]"))
        #expect(ended.errors.contains("quit with .quit, and start another session"))
    }

    @Test func `a typed password is never printed, however the line fails`() async throws {
        let session = try await repl(
            """
            push.login { username = "alice", password = "hunter2", x = 1 }
            x.y.z = push.login { username = 'alice', password = 'hunter2' }
            push.login { username = "alice", password = "hunter2 }
            """)
        #expect(session.status == 1)
        #expect(session.errors.contains("password = ***, x = 1 }"))
        #expect(!(session.output + session.errors).contains("hunter2"))
    }

    @Test func `a flow runs from the prompt, secrets stay hidden, and --trace shows the wire`() async throws {
        let session = try await repl(
            """
            run = push.run("scripts/notify_users.lua", { devices = 1 })
            run.result.sent, push.secret "demo_password"
            """, ["--trace"])
        #expect(session.errors == "")
        #expect(session.output.contains("✓ every device shows it"))
        #expect(session.output.contains("> POST https://api.push.apple.com/3/device/"))
        #expect(session.output.hasSuffix("1\t***\n"))
    }

    // MARK: - On a terminal

    @Test func `Ctrl-C ends only the running line, and clears the line being typed`() async throws {
        let session = try Dialogue(["repl"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("other = push.spawn(function() push.sleep '1h' return 'alive' end)\r")
        try await session.hear("repl:2> ")
        session.say("local c <close> = setmetatable({}, { __close = function() print 'closed' end }) print 'on' while true do end\r")
        try await session.hear("│ on")
        session.say("\u{3}")
        let cancelled = try await session.hear("repl:3> ")
        #expect(cancelled.contains("│ closed"))
        #expect(cancelled.contains("error[cancelled]: the call was cancelled"))
        session.say("no such line\u{3}")
        try await session.hear("^C")
        try await session.hear("repl:3> ")
        session.say("for i = 1, 2 do\r")
        try await session.hear("repl:4| ")
        session.say("\u{3}")
        try await session.hear("repl:4> ")
        session.say("\u{3}")
        try await session.hear("repl:4> ")
        session.say("other:await()\r")
        try await session.hear("\"alive\"")
        try await session.hear("repl:5> ")
        session.say("\u{4}")
        #expect(await session.end().status == 0)
    }

    @Test func `a line can be edited, recalled from the history and completed`() async throws {
        let session = try Dialogue(["repl"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("x = 'h\u{e9}日!'\u{1b}[D\u{7f}\r")
        try await session.hear("repl:2> ")
        session.say("#x, x\r")
        try await session.hear("6    \"hé日\"".replacing("    ", with: "\t"))
        session.say("\u{1b}[A\u{1b}[A\r")
        try await session.hear("repl:4> ")
        session.say("pus\t.clo\t.is\t()\r")
        try await session.hear("\"2026-01-05T09:00:00.000Z\"")
        session.say("push.tag.a\t")
        try await session.hear("all")
        try await session.hear("any")
        try await session.hear("push.tag.a")
        session.say("\u{15}push.device { na\t'p' }\r")
        try await session.hear("push.device { name = 'p' }")
        try await session.hear("\u{1b}[?2004ldevice p")
        session.say(".quit\r")
        #expect(await session.end().status == 0)
    }

    @Test func `Ctrl-C discards input typed ahead`() async throws {
        let session = try Dialogue(["repl"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("print 'on' while true do end\rprint('wrong')\rprint('too')\r")
        try await session.hear("│ on", thenSignal: SIGINT)
        try await session.hear("repl:2> ")
        session.say("print('ri' .. 'ght')\r")
        let heard = try await session.hear("│ right")
        #expect(!heard.contains("│ wrong"))
        #expect(!heard.contains("│ too"))
        session.say("\u{4}")
        #expect(await session.end().status == 0)
    }

    @Test func `input typed ahead is read after the line has ended, including Ctrl-D`() async throws {
        let session = try Dialogue(["repl"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("print 'on' for _ = 1, 30000000 do end\r")
        try await session.hear("│ on")
        session.say("'ah' .. 'ead'\r\u{4}")
        try await session.hear("\"ahead\"")
        #expect(await session.end().status == 0)
    }

    @Test func `a terminal without cursor movement has prompts, and Ctrl-C clears the line`() async throws {
        let session = try Dialogue(["repl"], environment: ["TERM": "dumb"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("for i = 1, 2 do\r")
        try await session.hear("repl:2| ")
        session.say("\u{3}")
        try await session.hear("repl:2> ")
        session.say("1 + 1\r")
        try await session.hear("\n2")
        session.say("\u{4}")
        #expect(await session.end().status == 0)
    }

    @Test func `a signal restores the terminal, and a stopped session continues`() async throws {
        let session = try Dialogue(["repl"], onTerminal: true)
        try await session.hear("repl:1> ")
        session.say("x = ")
        try await session.hear("x = ")
        session.signal(SIGTSTP)
        try await session.hear("\u{1b}[?2004l")
        // It restores the terminal first. A signal to continue would have no effect before it has stopped.
        try await until { session.isStopped }
        session.signal(SIGCONT)
        try await session.hear("repl:1> x = ")
        session.signal(SIGINT)
        try await session.hear("^C")
        session.signal(SIGHUP)
        let (rest, status) = await session.end()
        #expect(rest.contains("\u{1b}[?2004l"))
        #expect(status == 128 + SIGHUP)
    }

    @Test func `SIGTERM ends a session with 130 and restores the terminal`() async throws {
        for line in ["", "print 'on' while true do pcall(push.sleep, '1s') end\r"] {
            let session = try Dialogue(["repl"], onTerminal: true)
            try await session.hear("repl:1> ")
            session.say(line)
            if !line.isEmpty { try await session.hear("│ on") }
            session.signal(SIGTERM)
            #expect(await session.end().status == 130)
        }
    }

    @Test func `through a pipe Ctrl-C ends the session with 130, after the line's cleanup`() async throws {
        let session = try Dialogue(["repl", "--cpu-limit", "5m"])
        session.say(
            "local c <close> = setmetatable({}, { __close = function() print 'closed' end }) print 'on' while true do end\n'next'\n")
        try await session.hear("│ on", thenSignal: SIGINT)
        let (rest, status) = await session.end()
        #expect(rest.contains("│ closed"))
        #expect(!rest.contains("next"))
        #expect(status == 130)
        let idle = try Dialogue(["repl"])
        idle.say("1\n")
        try await idle.hear("1\n")
        idle.signal(SIGINT)
        #expect(await idle.end(closingInput: false).status == 130)
    }
}
