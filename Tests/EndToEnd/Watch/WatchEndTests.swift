import Foundation
import Support
import Testing

/// How a watch ends, and that its runs leave nothing behind.
@Suite struct WatchEndTests {
    private func write(_ name: String, _ text: String, in folder: ScriptFolder) throws {
        try folder.write(name, Data(text.utf8))
    }

    private func end(_ watch: Dialogue) async {
        watch.signal(SIGTERM)
        _ = await watch.end()
    }

    private static let endless = """
        local c <close> = setmetatable({}, { __close = function() print 'closed' end })
        print(('x'):rep(70000)) while true do end
        """

    // MARK: - Runs

    @Test func `a change during a run cancels the run, executes its cleanup and starts again`() async throws {
        let folder = try ScriptFolder(["flow.lua": Self.endless])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("xxx")
        try write("flow.lua", "print 'second'", in: folder)
        try await watch.hear("│ closed")
        try await watch.hear("INTERRUPTED")
        try await watch.hear("flow.lua has changed during the run: starting again")
        try await watch.hear("│ second")
        try await watch.hear("PASS")
        // The cancelled run does not affect the exit code; the last one decides.
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }

    @Test func `a change of a nested flow cancels the run too`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').run 'part.lua'", "part.lua": Self.endless])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("xxx")
        try write("part.lua", "print 'second'", in: folder)
        try await watch.hear("part.lua has changed during the run")
        try await watch.hear("│ second")
        await end(watch)
    }

    @Test func `a change while tests run cancels them`() async throws {
        let spec = """
            local push = require 'push'
            push.test.it('is quick', function() end)
            push.test.it('never ends', function() while true do end end)
            """
        let folder = try ScriptFolder(["a_spec.lua": spec])
        let watch = try Dialogue(["test", "--jobs", "1", "--watch"], in: folder.url)
        try await watch.hear("✓ is quick")
        try write("a_spec.lua", spec.replacing("while true do end", with: ""), in: folder)
        try await watch.hear("INTERRUPTED")
        try await watch.hear("a_spec.lua has changed during the run: starting again")
        try await watch.hear("PASS  1 spec · 2 tests")
        await end(watch)
    }

    @Test func `Ctrl-C while a change cancels a run ends the watch with 130`() async throws {
        let slow = """
            local c <close> = setmetatable({}, { __close = function()
              print('closing' .. ('y'):rep(200000)) local n = 0 for i = 1, 2e7 do n = n + 1 end
            end })
            print(('x'):rep(70000)) while true do end
            """
        // More than the pipe and one read take: the cleanup does not end before the signal.
        let folder = try ScriptFolder(["flow.lua": slow])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("xxx")
        try write("flow.lua", "print 'second'", in: folder)
        try await watch.hear("closing", thenSignal: SIGINT)
        let (rest, status) = await watch.end()
        #expect(!rest.contains("second"))
        #expect(status == 130)
    }

    @Test func `a run leaves neither its thread nor its simulation in memory`() async throws {
        let flow = """
            local push = require "push"
            for i = 1, 12 do
              push.device { name = "p" .. i, platform = "apns" }:storage().x = ("x"):rep(1000000)
            end
            print "RUN"
            """
        let folder = try ScriptFolder(["flow.lua": flow.replacing("RUN", with: "run 0")])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url, environment: ["MALLOC_ARENA_MAX": "1"])
        try await watch.hear("PASS")
        for run in 1...20 {
            try write("flow.lua", flow.replacing("RUN", with: "run \(run)"), in: folder)
            try await watch.hear("│ run \(run)")
            try await watch.hear("PASS")
        }
        let tasks = "/proc/\(watch.id)/task"
        // The threads of the last runs may not have ended yet.
        try await until {
            try FileManager.default.contentsOfDirectory(atPath: tasks).count { task in
                (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) == "lua\n"
            } <= 1
        }
        let sizes = try String(contentsOfFile: "/proc/\(watch.id)/statm", encoding: .utf8).split(separator: " ")
        let resident = try #require(Int(sizes[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
        // Each simulation takes 12 MB.
        #expect(resident < 150_000_000)
        await end(watch)
    }

    // MARK: - Command lines and outputs

    @Test(arguments: [
        ["run", "flow.lua", "--watch", "--user"], ["run", "flow.lua", "--watch", "--count", "many"],
        ["run", "needy.lua", "--watch"], ["test", ".", "nodir", "--watch"], ["test", "--watch", "--junit", "nodir/x.xml"],
    ])
    func `an invalid command line ends at once`(arguments: [String]) async throws {
        let folder = try ScriptFolder([
            "flow.lua": "require('push').args { user = { type = 'string' }, count = { type = 'integer' } }",
            "needy.lua": "require('push').args { user = { type = 'string', required = true } }",
            "a_spec.lua": "require('push').test.it('passes', function() end)",
        ])
        let (said, status) = await (try Dialogue(arguments, in: folder.url)).end()
        #expect(!said.contains("waiting"))
        #expect(status == 2, "\(said)")
    }

    @Test func `an option unknown to the flow does not end the watch, because the script may add it`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'no options'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch", "--nope", "1"], in: folder.url)
        try await watch.hear("error[usage.no_options]")
        try write("flow.lua", "require('push').args { user = { type = 'string' } }", in: folder)
        try await watch.hear("error[usage.unknown_option]")
        // The value is invalid now, but the script may still change.
        try write("flow.lua", "require('push').args { nope = { type = 'integer', min = 2 } }", in: folder)
        try await watch.hear("error[usage.option]")
        try write("flow.lua", "print(require('push').args { nope = { type = 'integer' } }.nope)", in: folder)
        try await watch.hear("PASS")
        await end(watch)
    }

    @Test(arguments: [
        ("exec $P run flow.lua --watch > /dev/full", 1), ("exec $P test --watch > /dev/full", 1),
        ("$P run flow.lua --watch | head -n 1", 0), ("$P test --watch | head -n 1", 0),
    ])
    func `a watch whose output cannot be written ends`(line: String, expected: Int32) async throws {
        let folder = try ScriptFolder([
            "flow.lua": "print 'x'", "a_spec.lua": "require('push').test.it('passes', function() end)",
        ])
        let (said, status) = await (try Dialogue(["-c", line], tool: "/bin/sh", in: folder.url)).end()
        #expect(said.contains("output.failed") == (expected == 1))
        #expect(status == expected)
    }

    // MARK: - Signals

    @Test(arguments: zip([SIGTERM, SIGQUIT, SIGHUP], [130, 131, 130] as [Int32]))
    func `a signal ends a waiting watch`(number: Int32, expected: Int32) async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'x'"])
        let watch = try Dialogue(
            ["run", "flow.lua", "--watch"], in: folder.url, environment: ["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no"],
            onTerminal: true)
        try await watch.hear("waiting for a change", thenSignal: number)
        let (rest, status) = await watch.end()
        #expect(status == expected)
        #expect(!rest.contains("rash"), "\(rest)")
    }

    @Test func `a background program that ignores SIGQUIT continues to ignore it`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(["-c", "trap '' QUIT; exec $P run flow.lua --watch"], tool: "/bin/sh", in: folder.url)
        try await watch.hear("PASS", thenSignal: SIGQUIT)
        try write("flow.lua", "print 'second'", in: folder)
        try await watch.hear("│ second")
        await end(watch)
    }

    // MARK: - The terminal

    @Test func `the status line fits a narrow terminal and is erased`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url, onTerminal: true, columns: 20)
        try await watch.hear("waiting for a chang")
        try write("flow.lua", "print 'second'", in: folder)
        #expect(try await watch.hear("│ second").hasPrefix("\r\u{1b}[K"))
        // Wait first: Ctrl-C during the run would end that run with 130.
        try await watch.hear("waiting for a chang")
        watch.say("\u{3}")
        #expect(await watch.end().status == 0)
    }
}
