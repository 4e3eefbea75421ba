import Bindings
import Foundation
import Lua
import PushLab
import PushModel
import Support
import Synchronization
import Testing

@testable import PushServer

/// How changed plugin files are loaded, refused, pinned, and chosen at the start.
@Suite struct PluginSupervisorTests {
    @Test func `a changed file is live at once, and one that does not load leaves the previous version live`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        #expect(try await bench.word() == "one")
        try bench.write("greet/init.lua", Self.greet("two"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "two")
        let live = bench.host.installed.first?.source.version
        for (broken, code) in [
            ("return {", "script.syntax"), ("return 5", "plugin.manifest"), ("while true do end", "budget.cpu"),
            ("error 'no'", "script.error"),
        ] {
            try bench.write("greet/init.lua", broken)
            await bench.supervisor.refresh()
            #expect(try await bench.word() == "two")
            let report = try #require(await bench.supervisor.report.first)
            #expect(report.refusal?.code == code)
            #expect(report.status?.plugin.source.version == live)
            let told = try #require(bench.lines.last)
            #expect(told.hasPrefix("error greet: was rejected: \(live ?? "") stays live: ") && told.contains("(\(code))"), "\(told)")
        }
        let count = bench.lines.count
        await bench.supervisor.refresh()
        #expect(bench.lines.count == count, "what was refused is not tried again while it stays the same")
        try bench.write("greet/init.lua", Self.greet("three"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "three")
        #expect(await bench.supervisor.report.first?.refusal == nil)
    }

    @Test func `a version that fails its own spec is refused`() async throws {
        let spec = """
            local push = require "push"
            push.test.describe("greet", function()
              push.test.it("says one or two", function()
                local word = push.test.plugin {}:request("/word").body
                push.expect(word == "one" or word == "two").to.equal(true)
              end)
            end)
            """
        let bench = try PluginFolderBench([
            "greet/init.lua": Self.greet("one"), "greet/greet_spec.lua": spec, "plugins.yaml": "- name: greet\n",
        ])
        try await bench.supervisor.begin()
        try bench.write("greet/init.lua", Self.greet("two"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "two")
        try bench.write("greet/init.lua", Self.greet("three"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "two")
        let refusal = await bench.supervisor.report.first?.refusal
        #expect(refusal?.code == "plugin.spec")
        #expect(refusal?.message.contains("greet › says one or two") == true)
    }

    @Test func `configuration and grants are applied, and an invalid change leaves the previous ones in effect`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        try bench.write("plugins.yaml", "- name: greet\n  config: { tail: \"!\" }\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "one!")
        try bench.write("plugins.yaml", "- name: greet\n  config: { tial: \"?\" }\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "one!")
        #expect(bench.lines.last?.contains("config.tial is not a setting of the plugin; did you mean \"tail\"?") == true)
        try bench.write("plugins.yaml", "- nam: greet\n")
        await bench.supervisor.refresh()
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "one!")
        #expect(bench.lines.count { $0.contains("the previous list stays in effect") } == 1)
        try bench.write("plugins.yaml", "- name: greet\n  enabled: false\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == nil)
        #expect(bench.host.installed.isEmpty)
    }

    @Test func `a revoked grant ends at once, even if a broken folder keeps the previous version live`() async throws {
        let source = Self.greet("one").replacing("config = {", with: "needs = { \"kv\" }, config = {").replacing(
            "return { body", with: "push.kv.add 'n' return { body")
        let bench = try PluginFolderBench(["greet/init.lua": source, "plugins.yaml": "- name: greet\n  grants: [kv]\n"])
        try await bench.supervisor.begin()
        #expect(try await bench.word() == "one")
        try bench.write("greet/init.lua", "broken")
        try bench.write("plugins.yaml", "- name: greet\n")
        await bench.supervisor.refresh()
        let error = await #expect(throws: PushError.self) { try await bench.word() }
        #expect(error?.code == "route.failed")
        #expect(bench.lines.last?.contains("(capability.denied)") == true)
        // Granting it again restores it, although files and list are the same as at the start.
        try bench.write("greet/init.lua", source)
        try bench.write("plugins.yaml", "- name: greet\n  grants: [kv]\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "one")
    }

    @Test func `a grant revoked while specs run ends at once, even for the plugin under test`() async throws {
        let counting = Self.greet("one").replacing("config = {", with: "needs = { \"kv\" }, config = {").replacing(
            "return { body", with: "push.kv.add 'n' return { body")
        let files = ["greet/init.lua": counting, "slow/init.lua": Self.greet("slow").replacing("\"greet\"", with: "\"slow\"")]
        let gate = Gate()
        let bench = try PluginFolderBench(over: ScriptFolder(plugins: files)) { source in
            if source.name == "slow" { await gate.wait() }
        }
        try bench.write("plugins.yaml", "- name: greet\n  grants: [kv]\n")
        try await bench.supervisor.begin()
        #expect(try await bench.word() == "one")
        try bench.write("plugins.yaml", "- name: slow\n- name: greet\n  grants: [kv]\n")
        async let refreshed: Void = bench.supervisor.refresh()
        try await until { gate.isAwaited }
        try bench.write("plugins.yaml", "- name: slow\n  enabled: false\n- name: greet\n")
        await bench.supervisor.refresh()
        await #expect(throws: PushError.self) { try await bench.word() }
        #expect(bench.lines.last?.contains("(capability.denied)") == true)
        gate.open()
        await refreshed
        #expect(bench.host.installed.map(\.name) == ["greet"])
        #expect(await bench.supervisor.report.allSatisfy { $0.refusal == nil })
    }

    @Test func `a plugin does not wait for the specs of another, and changes made meanwhile are tried too`() async throws {
        let slow = { (word: String) in Self.greet(word).replacing("\"greet\"", with: "\"slow\"") }
        let gate = Gate()
        let tried = Mutex<[String]>([])
        let bench = try PluginFolderBench(
            over: ScriptFolder(plugins: [
                "greet/init.lua": Self.greet("one"), "slow/init.lua": slow("one"), "plugins.yaml": "- name: slow\n- name: greet\n",
            ])
        ) { source in
            tried.withLock { $0.append("\(source.name) \(source.version)") }
            if source.name == "slow", tried.withLock({ $0.count { $0.hasPrefix("slow") } }) == 2 { await gate.wait() }
        }
        try await bench.supervisor.begin()
        try bench.write("slow/init.lua", slow("two"))
        async let refreshed: Void = bench.supervisor.refresh()
        try await until { gate.isAwaited }
        try bench.write("greet/init.lua", Self.greet("two"))
        try bench.write("slow/init.lua", slow("three"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "two")
        gate.open()
        await refreshed
        #expect(tried.withLock { $0.count { $0.hasPrefix("slow") } } == 3)
        #expect(bench.host.installed.map(\.name) == ["slow", "greet"])
    }

    @Test func `specs that together exceed the time limit are refused before the next one starts`() async throws {
        let test = "push.test.it(\"waits\", function() push.sleep(40) end)"
        let bench = try PluginFolderBench(over: ScriptFolder(plugins: [:]))
        let source = PluginSource(
            name: "greet", folder: "plugins/greet",
            files: [
                "init.lua": Array(Self.greet("one").utf8),
                "greet_spec.lua": Array("local push = require 'push' push.test.describe('greet', function() \(test) end)".utf8),
            ])
        try await PluginSpecCheck(source: source, module: BindingRegistry.standard, longest: .zero, clock: bench.clock).run()
        let error = await #expect(throws: LuaError.self) {
            try await PluginSpecCheck(source: source, module: BindingRegistry.standard, longest: .seconds(-1), clock: bench.clock).run()
        }
        #expect(error?.code == "plugin.spec" && error?.message.contains("the specs take longer than") == true)
    }

    @Test func `a missing or blank list disables nothing, and an explicitly empty list disables everything`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        try FileManager.default.removeItem(at: bench.folder.url.appending(path: "plugins/plugins.yaml"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "one")
        #expect(bench.lines.last?.contains("plugins.yaml is missing") == true)
        // As while an editor is writing the file.
        for text in ["", "# - name: greet\n", "~\n"] {
            try bench.write("plugins.yaml", text)
            await bench.supervisor.refresh()
            #expect(try await bench.word() == "one")
            #expect(bench.lines.last?.contains("plugins.yaml is empty") == true)
        }
        // Changes of plugin files are still loaded.
        try bench.write("greet/init.lua", Self.greet("two"))
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "two")
        try bench.write("plugins.yaml", "[]\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == nil)
    }

    @Test func `a server that starts without a list reports the plugins that were live before`() async throws {
        let first = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await first.supervisor.begin()
        for (list, isTold) in [("", true), ("[]\n", false)] {
            try first.write("plugins.yaml", list)
            let next = try PluginFolderBench(over: first.folder)
            try await next.supervisor.begin()
            #expect(next.lines.contains { $0.contains("not loading greet, which") } == isTold)
        }
    }

    @Test func `a link to a file outside of the plugin's folder is refused`() async throws {
        let bench = try PluginFolderBench([
            "greet/init.lua": Self.greet("one"), "other/init.lua": "return 'secret'", "plugins.yaml": "- name: greet\n",
        ])
        try await bench.supervisor.begin()
        let link = bench.folder.url.appending(path: "plugins/greet/other.lua")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../other/init.lua")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "one")
        #expect(bench.lines.last?.contains("is a link to a file outside") == true)
        try FileManager.default.removeItem(at: link)
        // A link within the folder is allowed.
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "init.lua")
        await bench.supervisor.refresh()
        #expect(await bench.supervisor.report.first?.refusal == nil)
    }

    @Test func `a pin may name the version in the folder, and an unknown pin prevents the start`() async throws {
        let first = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await first.supervisor.begin()
        let hash = try #require(first.host.installed.first?.source.hash)
        let fresh = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n  version: \(hash)\n"])
        try await fresh.supervisor.begin()
        #expect(try await fresh.word() == "one")
        try first.write("plugins.yaml", "- name: greet\n  version: \"000000\"\n")
        let error = await #expect(throws: PushError.self) { try await PluginFolderBench(over: first.folder).supervisor.begin() }
        #expect(error?.message.contains("unknown version 000000") == true)
    }

    @Test func `a refusal for a reason outside of the files is retried on request`() async throws {
        let bench = try PluginFolderBench([
            "greet/init.lua": Self.greet("one").replacing("config = {", with: "config = { key = { type = \"secret\" },"),
            "plugins.yaml": "- name: greet\n",
        ])
        try await bench.supervisor.begin()
        try bench.write("plugins.yaml", "- name: greet\n  config: { key: absent }\n")
        await bench.supervisor.refresh()
        let refusals = bench.lines.count { $0.contains("was rejected") }
        await bench.supervisor.refresh()
        #expect(bench.lines.count { $0.contains("was rejected") } == refusals)
        await bench.supervisor.retry()
        #expect(bench.lines.count { $0.contains("was rejected") } == refusals + 1)
    }

    @Test func `a pinned version stays live whatever is in the folder, and ten versions are stored`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": Self.greet("0"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        for number in 1...11 {
            bench.clock.advance(to: bench.clock.now + .seconds(1))
            try bench.write("greet/init.lua", Self.greet("\(number)"))
            await bench.supervisor.refresh()
        }
        let kept = bench.versions.versions(of: "greet")
        #expect(kept.count == PluginVersions.maximumVersions)
        try bench.write("plugins.yaml", "- name: greet\n  version: \"\(kept[3].shown)\"\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "8")
        try bench.write("greet/init.lua", "broken")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "8")
        try bench.write("plugins.yaml", "- name: greet\n  version: \"000000\"\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "8")
        #expect(bench.lines.last?.contains("unknown version 000000 of greet") == true)
        // A stored version was modified.
        let file = bench.folder.url.appending(path: "data/plugins/greet/\(kept[5].hash)/files/init.lua")
        try Data(Self.greet("evil").utf8).write(to: file)
        try bench.write("plugins.yaml", "- name: greet\n  version: \"\(kept[5].shown)\"\n")
        await bench.supervisor.refresh()
        #expect(try await bench.word() == "8")
        #expect(bench.lines.last?.contains("was modified in") == true)
    }

    @Test func `a server starts with the version that was live last, and not at all without any`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": Self.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        try bench.write("greet/init.lua", "broken")
        let next = try PluginFolderBench(over: bench.folder)
        try await next.supervisor.begin()
        #expect(try await next.word() == "one")
        #expect(next.lines.last?.contains("the previous version is live") == true)
        // Also if that was not the newest version: after a rollback whose pin was then removed.
        try next.write("greet/init.lua", Self.greet("two"))
        next.clock.advance(to: next.clock.now + .seconds(1))
        await next.supervisor.refresh()
        let kept = next.versions.versions(of: "greet")
        try next.write("plugins.yaml", "- name: greet\n  version: \"\(kept[1].shown)\"\n")
        await next.supervisor.refresh()
        try next.write("greet/init.lua", "broken")
        try next.write("plugins.yaml", "- name: greet\n")
        let after = try PluginFolderBench(over: bench.folder)
        try await after.supervisor.begin()
        #expect(try await after.word() == "one")
        #expect(after.versions.versions(of: "greet") == kept)
        try next.write("plugins.yaml", "- name: greet\n- name: other\n")
        try next.write("other/init.lua", "return {}")
        let third = try PluginFolderBench(over: bench.folder)
        let error = await #expect(throws: PushError.self) { try await third.supervisor.begin() }
        #expect(error?.code == "plugin.refused")
        #expect(
            error?.message.contains("the plugin other cannot be loaded: plugins/other/init.lua: name is missing") == true,
            "\(error?.message ?? "")")
    }

    static func greet(_ word: String) -> String {
        """
        local push = require "push"
        return {
          name = "greet", version = "1.0", config = { tail = { default = "" } },
          routes = { { path = "/word", auth = "open", run = function() return { body = "\(word)" .. push.config.tail } end } },
        }
        """
    }
}
