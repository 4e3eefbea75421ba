import Bindings
import Foundation
import HostSupport
import Lua
import PushLab
import PushModel
import Testing

/// The specs of the bundled plugins pass, and fail when a line of a plugin is changed.
@Suite struct BundledPluginTests {
    /// A mutation: one line of a plugin replaced by another.
    struct Mutation: Sendable, CustomTestStringConvertible {
        var plugin: String
        var what: String
        var old: String
        var new: String

        init(_ plugin: String, _ what: String, _ old: String, _ new: String) {
            (self.plugin, self.what, self.old, self.new) = (plugin, what, old, new)
        }

        var testDescription: String { "\(plugin): \(what)" }
    }

    static let mutations: [Mutation] = [
        Mutation("quiet-hours", "the default zone applies to every device", "days[#days + 1] = { tag = tag, pass = true }", "_ = 0"),
        Mutation("quiet-hours", "exempt devices sleep too", "if push.config.exempt_tag then", "if false then"),
        Mutation("quiet-hours", "high priority waits", "group.priority == \"high\"", "group.priority == \"higher\""),
        Mutation("quiet-hours", "any word is urgent", "and word ~= \"false\" ", ""),
        Mutation("quiet-hours", "zones of two parts alone are known", "gsub(\"/\", \".\")", "gsub(\"/\", \":\")"),
        Mutation("quiet-hours", "nothing is left out", "skip = true", "hold_until = wake"),
        Mutation("quiet-hours", "every device waits until the same time", "hold_until = wake", "hold_until = push.clock.now() + 3600"),

        Mutation("frequency-cap", "registrations are not counted", "return device.registration and", "return false and"),
        Mutation("frequency-cap", "long names are too long", "#key <= 256 and", "true and"),
        Mutation("frequency-cap", "another while goes on with the same slots", "push.config.within, name", "\"\", name"),
        Mutation("frequency-cap", "exempt devices are capped", "exempt[tag] = true", "exempt[tag] = false"),
        Mutation("frequency-cap", "exempt notifications are counted", "or is_exempt(group)", ""),
        Mutation("frequency-cap", "the last page is forgotten", "  take()\n  if #capped", "  if #capped"),
        Mutation(
            "frequency-cap", "the first page is forgotten", "if #keys == PAGE then take() end",
            "if #keys == PAGE then keys, numbers = {}, {} end"),
        Mutation("frequency-cap", "all notifications are the same one", ".. group.notification,", ".. \"n\","),

        Mutation("audit-webhook", "news are lost that the server has not taken", "if why then", "if why and push.kv.delete(key) then"),
        Mutation("audit-webhook", "news are told again that the server has taken", "  push.kv.delete(key)\n", ""),
        Mutation("audit-webhook", "the server is asked all the time", "+ pause })", "})"),
        Mutation("audit-webhook", "the pauses stay as they are", "push.kv.add \"failures\" - 1", "0"),
        Mutation("audit-webhook", "the pauses grow for ever", ", LONGEST_PAUSE)", ", math.huge)"),
        Mutation("audit-webhook", "the body alone is signed", "now .. \".\" .. news.body", "news.body"),
        Mutation("audit-webhook", "the newest is dropped", "drop(waiting[place]", "drop(waiting[#waiting]"),
        Mutation("audit-webhook", "nothing is given up", "> push.config.give_up_after", "> math.huge"),

        Mutation("localised-news", "the plain text is not used", "and not texts[first]", "and false"),
        Mutation("localised-news", "empty texts are texts", "and text ~= \"\" ", ""),
        Mutation("localised-news", "other properties are lost", "do properties[name] = value end", "do end"),
        Mutation("localised-news", "languages with a region are not found", ":gsub(\"_\", \"-\")", ":gsub(\"_\", \"+\")"),
        Mutation(
            "localised-news", "the second fallback is not looked at", "ipairs(push.config.fallback)", "ipairs { push.config.fallback[1] }"),
        Mutation("localised-news", "phones show nothing", "return { veto =", "return nil and { veto ="),
    ]

    private static let folder = PluginFolder(path: BuiltProgram.root.appending(path: "plugins").path, shown: "plugins")

    /// Loads the plugin with the mutation.
    private struct Library: ScriptLibrary {
        var mutation: Mutation?
        let base = ProjectScripts()

        func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript { try base.script(at: path, from: script) }
        func modules(of script: FlowScript) -> LuaSearchPath? { base.modules(of: script) }

        func plugin(of script: FlowScript) throws(PushError) -> PluginSource {
            var source = try base.plugin(of: script)
            guard let mutation, let main = source.files[PluginSource.main] else { return source }
            source.files[PluginSource.main] = Array(String(decoding: main, as: UTF8.self).replacing(mutation.old, with: mutation.new).utf8)
            return source
        }
    }

    /// Runs the tests of a plugin's specs until one fails. Returns the name of that test, or nil.
    private func firstFailure(of plugin: String, _ mutation: Mutation?) async throws -> String? {
        let source = try Self.folder.source(of: plugin)
        for spec in source.specs {
            let script = try ScriptFile.read(Self.folder.folder(of: plugin) + "/" + spec)
            let runner = SpecRunner(
                limits: LuaLimits(memory: 256 << 20), seed: 1, scripts: Library(mutation: mutation),
                world: { (thread, script) throws(PushError) in
                    try EmbeddedWorld(
                        seed: 1, thread: thread, module: BindingRegistry.standard, secrets: try ProjectSecrets(demoFolder: script.folder)
                    ).world
                })
            for (index, test) in try await runner.tests(of: script).enumerated() {
                guard case .passed = try await runner.run(test, number: index + 1, of: script).report.verdict else { return test.fullName }
            }
        }
        return nil
    }

    @Test(arguments: folder.names) func `the specs of a plugin pass`(plugin: String) async throws {
        #expect(try await firstFailure(of: plugin, nil) == nil)
    }

    @Test(arguments: mutations) func `a spec notices a mutation of the plugin`(mutation: Mutation) async throws {
        let main = try #require(try Self.folder.source(of: mutation.plugin).files[PluginSource.main])
        #expect(String(decoding: main, as: UTF8.self).contains(mutation.old), "no line of the plugin has \(mutation.old)")
        #expect(try await firstFailure(of: mutation.plugin, mutation) != nil)
    }

    @Test func `every plugin has a spec that notices mutations, and a page that lists all its settings`() throws {
        #expect(Self.folder.names == ["audit-webhook", "frequency-cap", "localised-news", "quiet-hours"])
        for plugin in Self.folder.names {
            #expect(Self.mutations.count { $0.plugin == plugin } >= 5, "\(plugin)")
            let source = try Self.folder.source(of: plugin)
            #expect(!source.specs.isEmpty)
            let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/reference/plugins/\(plugin).md"), encoding: .utf8)
            let main = String(decoding: try #require(source.files[PluginSource.main]), as: UTF8.self)
            let schema = try #require(main.firstMatch(of: /(?s)\n  config = \{\n(.*?)\n  \},/)).1
            for setting in schema.matches(of: /(?m)^    ([a-z_]+) = \{/) {
                #expect(page.contains("| `\(setting.1)`"), "docs/reference/plugins/\(plugin).md says nothing of \(setting.1)")
            }
        }
    }

    @Test func `pushhost check reports nothing for the bundled plugins`() async throws {
        let run = try await BuiltProgram.run(["check", "plugins"], in: BuiltProgram.root)
        #expect(run.status == 0 && run.output.hasSuffix("files · no findings\n"), "\(run.output)")
    }

    // MARK: - Several plugins

    /// Runs a script with some of the plugins live, in this order.
    private func rehearse(beside plugins: [(name: String, config: JSON)], _ lua: String) async throws -> Rehearsal {
        try await HostSupport.rehearse(lua) { world in
            let host = try #require(world.plugins as? PluginHost)
            var loaded: [LoadedPlugin] = []
            for (name, config) in plugins {
                let configuration = PluginConfiguration(values: config, file: "plugins/plugins.yaml")
                loaded.append(try await host.load(Self.folder.source(of: name), configuration, isGrantedAll: true))
            }
            host.install(loaded)
        }
    }

    @Test(arguments: [["quiet-hours", "frequency-cap"], ["frequency-cap", "quiet-hours"]])
    func `a push deferred by quiet hours counts once against the cap, in either order of the plugins`(order: [String]) async throws {
        let configs: [String: JSON] = ["frequency-cap": .object(["limit": 4])]
        let run = try await rehearse(
            beside: order.map { ($0, configs[$0] ?? .null) },
            """
            local ana = push.device { name = "ana" }
            push.install("ana", { device = ana, tags = { "time_zone:Europe.Lisbon" } })
            local function go_to(hour)
              push.clock.advance(os.time { year = 2026, month = 1, day = 6, hour = hour } - push.clock.now())
              push.clock.advance "5s"
            end
            local function say(text) return push.send { to = push.everyone, alert = text }.sent end
            go_to(3)
            local night = { say "1", say "2", say "3" }
            push.expect(night).to.equal { 0, 0, 0 }
            go_to(7)
            push.expect(#ana:inbox()).to.equal(3) -- asked about them once more, the cap has taken no further slots
            push.expect({ say "4", say "5" }).to.equal { 1, 0 }
            return #ana:inbox()
            """)
        #expect(run.result == "4", "\(run.report)")
    }

    @Test func `after a night with more pushes than the cap, the morning delivers as many as the cap allows`() async throws {
        let run = try await rehearse(
            beside: [("quiet-hours", .null), ("frequency-cap", .object(["limit": 2]))],
            """
            local ana = push.device { name = "ana" }
            push.install("ana", { device = ana, tags = { "time_zone:Europe.Lisbon" } })
            push.clock.advance(os.time { year = 2026, month = 1, day = 6, hour = 3 } - push.clock.now())
            for number = 1, 5 do push.send { to = push.everyone, alert = "n" .. number } end
            push.clock.advance "5h"
            return #ana:inbox()
            """)
        #expect(run.result == "2", "\(run.report)")
    }
}
