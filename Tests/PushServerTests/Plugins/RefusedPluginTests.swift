import Bindings
import Foundation
import PushLab
import PushModel
import Support
import Synchronization
import Testing

@testable import PushServer

/// A listed plugin whose new version is refused: which version stays live, and what happens to its decisions if none does.
@Suite struct RefusedPluginTests {
    @Test func `a listed plugin stays live in its last version, reconfigured, although its folder is broken`() async throws {
        let bench = try PluginFolderBench(["greet/init.lua": PluginSupervisorTests.greet("one"), "plugins.yaml": "- name: greet\n"])
        try await bench.supervisor.begin()
        try bench.write("greet/init.lua", "broken")
        await bench.supervisor.refresh()
        for (list, word) in [
            ("- name: greet\n  enabled: false\n", nil), ("- name: greet\n", "one"), ("- name: greet\n  config: { tail: \"!\" }\n", "one!"),
            ("[]\n", nil), ("- name: greet\n", "one"),
            // Settings that the live version rejects change nothing.
            ("- name: greet\n  config: { tale: \"!\" }\n", "one"),
        ] {
            try bench.write("plugins.yaml", list)
            await bench.supervisor.refresh()
            #expect(try await bench.word() == word, "\(list)")
        }
        #expect(bench.lines.contains { $0.contains("the previous version is live, reconfigured") })
    }

    @Test func `a version that stays live because its successor is broken gets no grants that it did not have before`() async throws {
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
        // A server that starts then applies the same limit.
        let next = try PluginFolderBench(over: bench.folder)
        try await next.supervisor.begin()
        #expect(await next.supervisor.report.first?.status?.plugin.grants.missing.map(\.description) == ["hub.read"])
    }

    @Test func `a grant that is given back works again, whatever was wrong meanwhile`() async throws {
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

    /// A plugin that decides about logins.
    private static func guardian(_ policy: String, _ more: String = "") -> String {
        """
        return { name = "guard", version = "1", \(more)
          hooks = { on_login = { on_failure = "\(policy)", run = function() return { veto = "closed" } end } } }
        """
    }

    /// The error code of a login; nil if it succeeds.
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
            // The manifest can be read, but a spec fails or the settings are invalid.
            (["init.lua": Self.guardian("fail_closed"), "guard_spec.lua": "error 'no'"], "- name: guard\n", "hook.absent"),
            (["init.lua": Self.guardian("fail_closed")], "- name: guard\n  config: { x: 1 }\n", "hook.absent"),
            (
                ["init.lua": Self.guardian("fail_closed", "every = { { cron = '* * * * *', time_zone = 'No/Where', run = print } },")],
                "- name: guard\n", "hook.absent"
            ),
            (["init.lua": Self.guardian("fail_open")], "- name: guard\n  config: { x: 1 }\n", nil),
            // The manifest cannot be read, so nothing is declared.
            (["init.lua": "broken"], "- name: guard\n", nil), ([:], "- name: guard\n", nil),
            (["init.lua": Self.guardian("fail_closed")], "- name: guard\n  version: \"abcdef\"\n", nil),
        ] as [([String: String], String, String?)])
    func `a plugin never live fails as its readable manifest declares`(files: [String: String], list: String, code: String?)
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
        #expect(bench.lines.contains { $0.contains("rejecting everything in on_login (fail_closed)") } == (code != nil))
        // Disabling the plugin ends the rejections.
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

    @Test func `with an unknown pinned version, the policy of the last live version applies, also after a restart`() async throws {
        let bench = try PluginFolderBench(["guard/init.lua": Self.guardian("fail_closed"), "plugins.yaml": "- name: guard\n"])
        try await bench.supervisor.begin()
        let unknown = "- name: guard\n  version: \"abcdef\"\n"
        // Until it is disabled, the previous version stays live.
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

    @Test func `the last known policy applies while the files cannot be read`() async throws {
        let bench = try PluginFolderBench(["plugins.yaml": "[]\n"])
        try await bench.supervisor.begin()
        try bench.write("plugins.yaml", "- name: guard\n  config: { x: 1 }\n")
        for text in [Self.guardian("fail_closed"), "broken", Self.guardian("fail_closed"), ""] {
            try bench.write("guard/init.lua", text)
            await bench.supervisor.refresh()
            #expect(await Self.login(bench) == "hook.absent", "\(text)")
            #expect(bench.lines.last?.contains("rejecting everything in on_login (fail_closed)") == true)
        }
        try bench.write("guard/init.lua", Self.guardian("fail_open"))
        await bench.supervisor.refresh()
        #expect(await Self.login(bench) == nil)
    }

    @Test func `while specs run, the previous version decides; without one, the new version's policy applies`() async throws {
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
        #expect(bench.lines.last?.contains("is live, replacing") == true)
    }

    @Test func `each refused version is reported and its declared policy applies, even with the same fault as before`() async throws {
        let bench = try PluginFolderBench(["plugins.yaml": "[]\n"])
        try await bench.supervisor.begin()
        try bench.write("guard/guard_spec.lua", "error 'no'")
        try bench.write("plugins.yaml", "- name: guard\n")
        for (policy, code) in [("fail_open", nil), ("fail_closed", "hook.absent"), ("fail_open", nil)] {
            try bench.write("guard/init.lua", Self.guardian(policy))
            let told = bench.lines.count { $0.contains("was rejected") }
            // Unrelated refreshes report nothing new.
            for _ in 1...2 { await bench.supervisor.refresh() }
            #expect(await Self.login(bench) == code)
            #expect(bench.lines.count { $0.contains("was rejected") } == told + 1)
            let source = try PluginFolder(path: bench.folder.url.appending(path: "plugins").path).source(of: "guard")
            #expect(await bench.supervisor.report.first?.refusedHash == source.hash)
        }
    }

    @Test func `a folder that changes while its specs run does not become a version`() async throws {
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
    func `a plugin that is disabled and enabled again while its specs run decides again at once`(wasLive: Bool) async throws {
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
