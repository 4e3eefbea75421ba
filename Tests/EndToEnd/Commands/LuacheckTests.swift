import Foundation
import HostSupport
import Support
import Testing

/// The luacheck profile, tested with luacheck itself (Debian: lua-check).
@Suite struct LuacheckTests {
    private static let tool = URL(filePath: "/usr/bin/luacheck")

    private func luacheck(_ arguments: [String], in folder: URL = BuiltProgram.root) async throws -> BuiltProgram {
        let profile = FileManager.default.temporaryDirectory.appending(path: "pushhost-luacheckrc-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        try Data(try await BuiltProgram.run(["reference", "luacheck"]).output.utf8).write(to: profile)
        return try await BuiltProgram.run(
            ["--no-cache", "--no-color", "--codes", "--config", profile.path] + arguments, tool: Self.tool, in: folder)
    }

    @Test func `scripts, plugins, examples and the new project's files have no warnings`() async throws {
        try #require(FileManager.default.isExecutableFile(atPath: Self.tool.path), "make test installs lua-check")
        let check = try await luacheck(["scripts", "plugins", "docs/examples", "Sources/PushHost/Project"])
        #expect(check.status == 0, "\(check.output)")
        #expect(check.output.contains("Total: 0 warnings / 0 errors"))
    }

    @Test(
        arguments: [
            ("io.open('x')", "W113"), ("os.execute('ls')", "W143"), ("os.exit(0)", "W143"), ("dofile 'x.lua'", "W113"),
            ("debug.getinfo(1)", "W113"), ("string.dump(print)", "W143"), ("pirnt('x')", "W113"), ("return package.path", "W113"),
            ("phones = {}", "W111"), ("local x", "W211"),
        ])
    func `globals that flows must not use, and a mistyped global, are reported`(lua: String, code: String) async throws {
        let folder = try ScriptFolder(["flow.lua": lua])
        let check = try await luacheck(["flow.lua"], in: folder.url)
        #expect(check.status == 1)
        #expect(check.output.contains("(\(code))"), "\(check.output)")
    }

    @Test func `globals that flows may use are not reported`() async throws {
        let folder = try ScriptFolder([
            "flow.lua": """
            local push = require "push"
            print(os.time(), os.date("%F"), os.clock(), math.random(), utf8.char(65), collectgarbage "count")
            push.nothing_that_luacheck_would_know()
            local task <close> = setmetatable({}, { __close = function() end })
            return load("return 1"), task
            """
        ])
        let check = try await luacheck(["flow.lua"], in: folder.url)
        #expect(check.status == 0, "\(check.output)")
    }
}
