import Foundation
import Support
import Testing

@Suite struct WatchTests {
    private func write(_ name: String, _ text: String, in folder: ScriptFolder) throws {
        try folder.write(name, Data(text.utf8))
    }

    @Test func `a flow runs again when its script changes, whether it passes, fails or is not valid Lua`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        #expect(try await watch.hear("PASS").contains("│ first"))
        try write("flow.lua", "x = = 1", in: folder)
        try await watch.hear("flow.lua has changed")
        try await watch.hear("error[script.syntax]")
        try await watch.hear("ERROR")
        try write("flow.lua", "error 'third'", in: folder)
        try await watch.hear("FAIL")
        try write("flow.lua", "\u{ff}", in: folder)
        try folder.write("flow.lua", Data([0xff]))
        try await watch.hear("is not UTF-8")
        try write("flow.lua", "print 'last'", in: folder)
        #expect(try await watch.hear("PASS").contains("│ last"))
        // Ctrl-C while waiting ends with the exit code of the last run.
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }

    @Test func `Ctrl-C ends the watch with 130 during a run, and with the run's exit code while waiting`() async throws {
        let folder = try ScriptFolder(["flow.lua": "error 'x'"])
        let failed = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await failed.hear("FAIL")
        failed.signal(SIGINT)
        #expect(await failed.end().status == 1)
        try write(
            "flow.lua",
            "local c <close> = setmetatable({}, { __close = function() print 'closed' end }) print(('x'):rep(70000)) while true do end",
            in: folder)
        let running = try Dialogue(["run", "--watch", "flow.lua"], in: folder.url)
        try await running.hear("xxx", thenSignal: SIGINT)
        let (rest, status) = await running.end()
        #expect(rest.contains("│ closed"))
        #expect(rest.contains("INTERRUPTED"))
        #expect(status == 130)
    }

    @Test func `a replaced file and a temporarily missing file are followed`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let path = folder.url.appending(path: "flow.lua").path
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("PASS")
        try write("flow.lua.new", "print 'second'", in: folder)
        #expect(rename(path + ".new", path) == 0)
        try await watch.hear("│ second")
        try await watch.hear("PASS")
        #expect(unlink(path) == 0)
        try write("other.lua", "print 'no business of ours'", in: folder)
        try write("flow.lua", "print 'third'", in: folder)
        let third = try await watch.hear("PASS")
        #expect(third.contains("│ third"))
        #expect(!third.contains("error["))
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }

    @Test func `a burst of writes causes few runs`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("PASS")
        for number in 1...50 { try write("flow.lua", "print 'number \(number)'", in: folder) }
        let runs = try await watch.hear("│ number 50")
        #expect(runs.ranges(of: "has changed").count < 10)
        watch.signal(SIGTERM)
        _ = await watch.end()
    }

    @Test func `a change while the flow runs is not lost`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print(('x'):rep(70000)) local n = 0 for i = 1, 3e7 do n = n + 1 end"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("xxx")
        try write("flow.lua", "print 'second'", in: folder)
        try await watch.hear("│ second")
        watch.signal(SIGTERM)
        _ = await watch.end()
    }

    @Test func `scripts that a flow runs are watched too, even if missing at first`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').run 'inner/part.lua'"])
        try FileManager.default.createDirectory(at: folder.url.appending(path: "inner"), withIntermediateDirectories: true)
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("FAIL")
        try write("inner/part.lua", "print 'part one'", in: folder)
        try await watch.hear("inner/part.lua has changed")
        try await watch.hear("│ part one")
        try await watch.hear("PASS")
        try write("inner/part.lua", "print 'part two'", in: folder)
        try await watch.hear("│ part two")
        watch.signal(SIGTERM)
        _ = await watch.end()
    }

    @Test func `specs run again when any Lua file below the paths changes, including new files and folders`() async throws {
        let spec = "local push = require 'push' push.test.it('NAME', function() push.run '../flow.lua' end)"
        let folder = try ScriptFolder(["flow.lua": "print 'x'"])
        try FileManager.default.createDirectory(at: folder.url.appending(path: "specs"), withIntermediateDirectories: true)
        try write("specs/a_spec.lua", spec.replacing("NAME", with: "the first"), in: folder)
        let watch = try Dialogue(["test", "specs", "--watch"], in: folder.url)
        #expect(try await watch.hear("PASS").contains("✓ the first"))
        // A flow outside the paths that a spec has run.
        try write("flow.lua", "error 'broken'", in: folder)
        try await watch.hear("flow.lua has changed")
        #expect(try await watch.hear("FAIL").contains("✗ the first"))
        try write("flow.lua", "print 'mended'", in: folder)
        try await watch.hear("PASS")
        try FileManager.default.createDirectory(at: folder.url.appending(path: "specs/more"), withIntermediateDirectories: true)
        try write("specs/more/b_spec.lua", spec.replacing("NAME", with: "the second").replacing("../", with: "../../"), in: folder)
        #expect(try await watch.hear("2 tests").contains("✓ the second"))
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }

    @Test(
        arguments: [
            (["run", "--watch", "--json", "scripts/notify_users.lua"], "--watch and --json cannot be combined"),
            (["test", "--watch", "--json"], "--watch cannot be combined with --json"), (["test", "--watch", "--tap"], "--tap"),
            (["run", "--watch", "scripts/nowhere.lua"], "does not exist"), (["run", "--watch", "scripts"], "is a directory"),
            (["run", "--watch", "scripts/notify_users.lua", "stray"], "unexpected argument \"stray\""),
            (["test", "--watch", "nowhere"], "does not exist"),
        ])
    func `a command that can never run is rejected at once`(arguments: [String], part: String) async throws {
        let watch = try Dialogue(arguments)
        let (said, status) = await watch.end()
        #expect(said.contains(part), "\(said)")
        #expect(status == 2)
    }

    @Test func `on a terminal a status line shows that the watch waits, and the next run erases it`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url, onTerminal: true)
        try await watch.hear("waiting for a change · Ctrl-C ends")
        try write("flow.lua", "print 'second'", in: folder)
        let next = try await watch.hear("│ second")
        #expect(next.hasPrefix("\r\u{1b}[K"))
        try await watch.hear("waiting for a change")
        watch.say("\u{3}")
        #expect(await watch.end().status == 0)
    }
}
