import Bindings
import Foundation
import PushCore
import Support
import Synchronization
import Testing

@testable import PushHost

/// What goes on of a listed plugin that was refused, and what becomes of what it decides about where nothing does.
@Suite struct RefusedPluginTests {
    @Test func `what is listed again is live as it was, and configured as it is listed, whatever is wrong with its folder`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": PluginSupervisorTests.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        try bench.write("greet/init.lua", "broken")
        await bench.supervisor.refresh()
        for (list, word) in [
            ("- name: greet\n  enabled: false\n", nil), ("- name: greet\n", "one"), ("- name: greet\n  config: { tail: \"!\" }\n", "one!"),
            ("[]\n", nil), ("- name: greet\n", "one"),
            // What does not fit the version that is live changes nothing.
            ("- name: greet\n  config: { tale: \"!\" }\n", "one"),
        ] {
            try bench.write("plugins.yaml", list)
            await bench.supervisor.refresh()
            #expect(try await bench.word() == word, "\(list)")
        }
        #expect(bench.lines.contains { $0.contains("is live as it was before, configured anew") })
    }

    @Test func `what goes on for want of its successor gets nothing that it was not granted before`() async throws {
        let bench = try PluginFolderBench([
            "greet/init.lua": """
            local push = require "push"
            return { name = "greet", version = "1", needs = { "kv", "hub.read" }, routes = {
              { path = "/word", auth = "open", run = function()
                return { body = tostring(push.try(push.kv.get, "x")) .. " " .. tostring(push.try(push.registrations)) }
              end } } }
            """, "plugins.yaml": "- name: greet\n  grants: [kv]\n",
        ])
        func grants() async -> [String] {
            await bench.supervisor.report.first?.status?.plugin.grants.missing.map(\.description) ?? ["not live"]
        }
        try await bench.supervisor.begin()
        try bench.write("greet/init.lua", "broken")
        for (list, missing) in [
            ("- name: greet\n  grants: [kv, hub.read]\n", ["hub.read"]), ("- name: greet\n", ["kv", "hub.read"]),
            ("- name: greet\n  grants: [kv]\n", ["hub.read"]),
            ("[]\n", ["not live"]), ("- name: greet\n  grants: [kv, hub.read]\n", ["hub.read"]),
        ] {
            try bench.write("plugins.yaml", list)
            await bench.supervisor.refresh()
            #expect(await grants() == missing, "\(list)")
        }
        // A server that begins then knows it, too.
        let next = try PluginFolderBench(over: bench.folder)
        try await next.supervisor.begin()
        #expect(await next.supervisor.report.first?.status?.plugin.grants.missing.map(\.description) == ["hub.read"])
    }

    @Test func `what is given back works again, whatever was wrong meanwhile`() async throws {
        let bench = try PluginFolderBench([
            "greet/init.lua": "return { name = 'greet', version = '1', needs = { 'kv' } }",
            "plugins.yaml": "- name: greet\n  grants: [kv]\n",
        ])
        try await bench.supervisor.begin()
        try bench.write("greet/init.lua", "broken")
        for list in ["- name: greet\n  config: { tale: 1 }\n", "- name: greet\n  grants: [kv]\n"] {
            try bench.write("plugins.yaml", list)
            await bench.supervisor.refresh()
        }
        #expect(await bench.supervisor.report.first?.status?.plugin.grants.missing == [])
    }

    /// Decides who logs in.
    private static func guardian(_ policy: String, _ more: String = "") -> String {
        """
        return { name = "guard", version = "1", \(more)
          hooks = { on_login = { on_failure = "\(policy)", run = function() return { veto = "closed" } end } } }
        """
    }

    /// Nil: logged in.
    private static func login(_ bench: PluginFolderBench) async -> String? {
        do throws(PushError) {
            try await bench.host.onLogin(LoginDraft(username: "alice"))
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        arguments: [
            // Its manifest can be read: a spec of it fails, or the settings do not fit.
            (["init.lua": Self.guardian("fail_closed"), "guard_spec.lua": "error 'no'"], "- name: guard\n", "hook.absent"),
            (["init.lua": Self.guardian("fail_closed")], "- name: guard\n  config: { x: 1 }\n", "hook.absent"),
            (
                ["init.lua": Self.guardian("fail_closed", "every = { { cron = '* * * * *', time_zone = 'No/Where', run = print } },")],
                "- name: guard\n", "hook.absent"
            ),
            (["init.lua": Self.guardian("fail_open")], "- name: guard\n  config: { x: 1 }\n", nil),
            // It cannot: nothing is declared.
            (["init.lua": "broken"], "- name: guard\n", nil), ([:], "- name: guard\n", nil),
            (["init.lua": Self.guardian("fail_closed")], "- name: guard\n  version: \"abcdef\"\n", nil),
        ] as [([String: String], String, String?)])
    func `one that never was live is as it declares, as far as that can be read`(files: [String: String], list: String, code: String?)
        async throws
    {
        let bench = try PluginFolderBench(["plugins.yaml": "[]\n"])
        try await bench.supervisor.begin()
        for (file, text) in files { try bench.write("guard/\(file)", text) }
        try bench.write("plugins.yaml", list)
        for _ in 1...2 {
            await bench.supervisor.refresh()
            #expect(await Self.login(bench) == code)
        }
        await bench.supervisor.retry()
        #expect(await Self.login(bench) == code)
        let report = try #require(await bench.supervisor.report.first)
        #expect(report.refusal != nil && report.status == nil)
        #expect(report.withheld == (code == nil ? [] : [.onLogin]))
        #expect(bench.lines.contains { $0.contains("what on_login decides about is refused meanwhile") } == (code != nil))
        // Whoever does not want to wait for it says so.
        try bench.write("plugins.yaml", "- name: guard\n  enabled: false\n")
        await bench.supervisor.refresh()
        #expect(await Self.login(bench) == nil)
        try bench.write("guard/init.lua", Self.guardian("fail_closed"))
        try bench.write("guard/guard_spec.lua", "require('push').test.it('is there', function() end)")
        try bench.write("plugins.yaml", "- name: guard\n")
        await bench.supervisor.refresh()
        #expect(await Self.login(bench) == "hook.veto", "\(bench.lines)")
        #expect(await bench.supervisor.report.first?.withheld == [])
    }

    @Test func `what was live says what is declared where an unknown version is listed, in this server or before it`() async throws {
        let bench = try PluginFolderBench(["guard/init.lua": Self.guardian("fail_closed"), "plugins.yaml": "- name: guard\n"])
        try await bench.supervisor.begin()
        let unknown = "- name: guard\n  version: \"abcdef\"\n"
        // With nothing that takes it out of use the version before it stays.
        for (list, code) in [(unknown, "hook.veto"), ("[]\n", nil), (unknown, "hook.absent"), ("- name: guard\n", "hook.veto")] {
            try bench.write("plugins.yaml", list)
            await bench.supervisor.refresh()
            #expect(await Self.login(bench) == code, "\(list)")
        }
        try bench.write("plugins.yaml", "[]\n")
        let next = try PluginFolderBench(over: bench.folder)
        try await next.supervisor.begin()
        try next.write("guard/init.lua", "broken")
        for (list, code) in [(unknown, "hook.absent"), ("- name: guard\n", "hook.veto"), ("[]\n", nil)] {
            try next.write("plugins.yaml", list)
            await next.supervisor.refresh()
            #expect(await Self.login(next) == code, "\(list)")
        }
    }

    @Test func `what was known of one holds while its files cannot be read`() async throws {
        let bench = try PluginFolderBench(["plugins.yaml": "[]\n"])
        try await bench.supervisor.begin()
        try bench.write("plugins.yaml", "- name: guard\n  config: { x: 1 }\n")
        for text in [Self.guardian("fail_closed"), "broken", Self.guardian("fail_closed"), ""] {
            try bench.write("guard/init.lua", text)
            await bench.supervisor.refresh()
            #expect(await Self.login(bench) == "hook.absent", "\(text)")
            #expect(bench.lines.last?.contains("what on_login decides about is refused meanwhile") == true)
        }
        try bench.write("guard/init.lua", Self.guardian("fail_open"))
        await bench.supervisor.refresh()
        #expect(await Self.login(bench) == nil)
    }

    @Test func `while specs run the version before decides, and without one what the new one declares`() async throws {
        let gates = Mutex<[Gate]>([])
        let bench = try PluginFolderBench(over: ScriptFolder(plugins: ["plugins.yaml": "[]\n"])) { _ in
            let gate = Gate()
            gates.withLock { $0.append(gate) }
            await gate.wait()
        }
        func refreshing(_ code: String?, _ trying: Int) async throws {
            async let refreshed: Void = bench.supervisor.refresh()
            try await until { gates.withLock { $0.count == trying && $0[trying - 1].isAwaited } }
            #expect(await Self.login(bench) == code)
            #expect(await bench.supervisor.report.first?.trying != nil)
            gates.withLock { $0[trying - 1] }.open()
            await refreshed
            #expect(await bench.supervisor.report.first?.trying == nil)
        }
        try await bench.supervisor.begin()
        try bench.write("guard/init.lua", Self.guardian("fail_closed"))
        try bench.write("plugins.yaml", "- name: guard\n")
        try await refreshing("hook.absent", 1)
        #expect(await Self.login(bench) == "hook.veto")
        try bench.write("plugins.yaml", "[]\n")
        await bench.supervisor.refresh()
        #expect(await Self.login(bench) == nil)
        try bench.write("guard/init.lua", Self.guardian("fail_closed").replacing("veto = \"closed\"", with: ""))
        try bench.write("plugins.yaml", "- name: guard\n")
        try await refreshing("hook.veto", 2)
        #expect(await Self.login(bench) == nil)
        #expect(bench.lines.last?.contains("is live, after") == true)
    }

    @Test func `each version that is refused is told, and decides as it declares, also with the fault of the one before`() async throws {
        let bench = try PluginFolderBench(["plugins.yaml": "[]\n"])
        try await bench.supervisor.begin()
        try bench.write("guard/guard_spec.lua", "error 'no'")
        try bench.write("plugins.yaml", "- name: guard\n")
        for (policy, code) in [("fail_open", nil), ("fail_closed", "hook.absent"), ("fail_open", nil)] {
            try bench.write("guard/init.lua", Self.guardian(policy))
            let told = bench.lines.count { $0.contains("was refused") }
            // What changes beside it is nothing new.
            for _ in 1...2 { await bench.supervisor.refresh() }
            #expect(await Self.login(bench) == code)
            #expect(bench.lines.count { $0.contains("was refused") } == told + 1)
            let source = try PluginFolder(path: bench.folder.url.appending(path: "plugins").path).source(of: "guard")
            #expect(await bench.supervisor.report.first?.refusedHash == source.hash)
        }
    }

    @Test func `a folder that is still being written while its specs run is no version`() async throws {
        let tried = Mutex<[String]>([])
        let folder = try ScriptFolder(plugins: ["plugins.yaml": "[]\n", "guard/init.lua": Self.guardian("fail_open")])
        let bench = try PluginFolderBench(over: folder) { source in
            let count = tried.withLock { tried in
                tried.append(source.version)
                return tried.count
            }
            if count == 1 { try folder.write("plugins/guard/more.lua", Data("return 1".utf8)) }
        }
        try await bench.supervisor.begin()
        try bench.write("plugins.yaml", "- name: guard\n")
        await bench.supervisor.refresh()
        let versions = tried.withLock { $0 }
        #expect(versions.count == 2)
        #expect(bench.host.installed.map(\.source.version) == versions.suffix(1))
        #expect(bench.versions.versions(of: "guard").map(\.shown) == versions.suffix(1))
    }

    @Test(arguments: [true, false])
    func `one that is taken out of use and put back while its specs run decides again at once`(wasLive: Bool) async throws {
        let gate = Gate()
        let tried = Mutex(0)
        let bench = try PluginFolderBench(
            over: ScriptFolder(plugins: [
                "guard/init.lua": Self.guardian("fail_closed"), "plugins.yaml": wasLive ? "- name: guard\n" : "[]\n",
            ])
        ) { _ in
            if tried.withLock({ count in
                count += 1
                return count > (wasLive ? 1 : 0)
            }) {
                await gate.wait()
            }
        }
        try await bench.supervisor.begin()
        try bench.write("guard/init.lua", Self.guardian("fail_closed") + "-- another one\n")
        try bench.write("plugins.yaml", "- name: guard\n")
        async let refreshed: Void = bench.supervisor.refresh()
        try await until { gate.isAwaited }
        let code = wasLive ? "hook.veto" : "hook.absent"
        for (list, expected) in [("- name: guard\n", code), ("[]\n", nil), ("- name: guard\n", code)] {
            try bench.write("plugins.yaml", list)
            await bench.supervisor.refresh()
            #expect(await Self.login(bench) == expected, "\(list)")
        }
        gate.open()
        await refreshed
        #expect(await Self.login(bench) == "hook.veto")
        #expect(await bench.supervisor.report.first?.withheld == [])
    }
}
