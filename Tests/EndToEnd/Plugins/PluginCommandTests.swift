import Bindings
import Foundation
import HostSupport
import PushModel
import Support
import Testing

@testable import PushLab
@testable import PushServer

/// `pushhost plugin` for a first-time author.
@Suite struct PluginCommandTests {
    @Test(arguments: ["cap-web", "quiet-hours-of-every-customer-abroad"])
    func `plugin new prints its next steps in two columns, and names the spec like other specs`(
        name: String
    ) async throws {
        let folder = try ScriptFolder()
        let made = try await BuiltProgram.run(["plugin", "new", name], in: folder.url)
        #expect(made.status == 0)
        let spec = "\(name.replacing("-", with: "_"))_spec.lua"
        #expect(made.output.contains("pushhost plugin enable \(name) --grant  ") && made.output.contains("  make it live in the server"))
        #expect(made.output.contains("\(spec)  ") && made.output.contains("  its spec"), "\(made.output)")
        #expect(FileManager.default.fileExists(atPath: folder.url.appending(path: "plugins/\(name)/\(spec)").path))
        #expect(try await BuiltProgram.run(["plugin", "test", name], in: folder.url).status == 0)
    }

    @Test func `a new plugin passes its spec, can be enabled, and works in a running server`() async throws {
        let folder = try ScriptFolder()
        func plugin(_ arguments: String...) async throws -> BuiltProgram {
            try await BuiltProgram.run(["plugin"] + arguments, in: folder.url)
        }
        let made = try await plugin("new", "greet")
        #expect(made.status == 0)
        #expect(made.output.contains("plugins/greet") && made.output.contains("pushhost plugin test greet"))
        let tested = try await plugin("test", "greet")
        #expect(tested.status == 0, "\(tested.output)")
        #expect(tested.output.contains("PASS  1 spec"))
        let checked = try await plugin("check")
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        let enabled = try await plugin("enable", "greet")
        #expect(enabled.output.contains("needs hub.send, which is not granted: pushhost plugin grant greet hub.send"))
        #expect(try await plugin("grant", "greet").output.contains("greet may: hub.send, kv"))
        let list = try String(contentsOf: folder.url.appending(path: "plugins/plugins.yaml"), encoding: .utf8)
        #expect(list == "- name: greet\n  grants: [hub.send, kv]\n")

        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--lab"], in: folder.url)
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        // The flow in docs/how-to/plugins.md.
        let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/plugins.md"), encoding: .utf8)
        let flow = try #require(page.components(separatedBy: "```lua greet\n").dropFirst().first).components(separatedBy: "```")[0]
        try folder.write("flow.lua", Data(flow.utf8))
        let run = try await BuiltProgram.run(["run", "flow.lua", "--target", "http://localhost:\(port)"], in: folder.url)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let answer = try await WireAnswer.exchange("GET", "/plugins/greet/greeted", [], body: [], port: port)
        #expect(answer.status == 200)
        #expect(answer.body == #"{"greeted":1}"#)

        let shown = try await plugin("list")
        #expect(shown.output.contains("route     GET /plugins/greet/greeted"))
        let first = try #require(shown.output.firstMatch(of: /version ([0-9a-f]{6}) \(1.0\)/)).1
        let file = folder.url.appending(path: "plugins/greet/init.lua")
        let source = try String(contentsOf: file, encoding: .utf8)
        try Data(source.replacing("version = \"1.0\"", with: "version = \"1.1\"").utf8).write(to: file)
        try await server.hear("is live, replacing \(first)")
        #expect(try await plugin("rollback", "greet").output.contains("pinned to version \(first)"))
        try await server.hear("version=\(first)")
        #expect(try await plugin("list").output.contains("version \(first) (1.0), pinned to \(first)"))
        #expect(try await plugin("rollback", "greet", "--release").status == 0)
        try await server.hear("is live, replacing \(first)")
        // Rollback starts from the live version, whatever was refused since.
        try Data("return {".utf8).write(to: file)
        try await server.hear("was rejected")
        #expect(try await plugin("rollback", "greet").output.contains("pinned to version \(first)"))
        try await server.hear("version=\(first)")
        try Data(source.replacing("version = \"1.0\"", with: "version = \"1.1\"").utf8).write(to: file)
        #expect(try await plugin("rollback", "greet", "--release").status == 0)
        try await server.hear("is live, replacing \(first)")
        #expect(try await plugin("disable", "greet").status == 0)
        try await server.hear("is no longer live")
        #expect(try await WireAnswer.exchange("GET", "/plugins/greet/greeted", [], body: [], port: port).status == 404)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
        // Without a server, the list shows the version that the next server starts with.
        #expect(try await plugin("enable", "greet").status == 0)
        try Data("return {".utf8).write(to: file)
        let broken = try await plugin("list").output
        #expect(broken.contains("refused   ") && broken.contains("instead   a server starts with version "), "\(broken)")
    }

    @Test func `concurrent changes of the list are all made`() async throws {
        let names = (1...4).map { "p\($0)" }
        let folder = try ScriptFolder(
            Dictionary(uniqueKeysWithValues: names.map { ("plugins/\($0)/init.lua", "return { name = '\($0)', version = '1' }") })
                .merging(["plugins/plugins.yaml": names.map { "- name: \($0)\n  grants: [hub.send]\n" }.joined()]) { first, _ in first })
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for name in names {
                group.addTask { try await BuiltProgram.run(["plugin", "grant", name, "kv"], in: folder.url).status }
                group.addTask { try await BuiltProgram.run(["plugin", "revoke", name, "hub.send"], in: folder.url).status }
            }
            for try await status in group { #expect(status == 0) }
        }
        let list = try String(contentsOf: folder.url.appending(path: "plugins/plugins.yaml"), encoding: .utf8)
        #expect(list == names.map { "- name: \($0)\n  grants: [kv]\n" }.joined())
    }

    @Test func `a missing list is not replaced if it would disable live plugins`() async throws {
        let folder = try ScriptFolder([
            "plugins/one/init.lua": "return { name = 'one', version = '1' }",
            "plugins/two/init.lua": "return { name = 'two', version = '1' }",
        ])
        let versions = PluginVersions(path: folder.url.appending(path: "pushhost-data/plugins").path)
        try versions.save(PluginFolder(path: folder.url.appending(path: "plugins").path).source(of: "one"), now: EmbeddedWorld.startTime)
        let refused = try await BuiltProgram.run(["plugin", "enable", "two"], in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains("plugins.yaml is missing; a new list would disable one"))
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "plugins/plugins.yaml").path))
        #expect(try await BuiltProgram.run(["plugin", "enable", "one"], in: folder.url).status == 0)
    }

    @Test func `without a server, rollback starts from the version that a server would start with`() async throws {
        func text(_ release: Int) -> String { "return { name = 'one', version = '\(release)' }" }
        let folder = try ScriptFolder(["plugins/one/init.lua": text(4), "plugins/plugins.yaml": "- name: one\n"])
        let versions = PluginVersions(path: folder.url.appending(path: "pushhost-data/plugins").path)
        let old = (1...3).map { PluginSource(name: "one", folder: "plugins/one", files: ["init.lua": Array(text($0).utf8)]) }
        for (number, source) in old.enumerated() { try versions.save(source, now: EmbeddedWorld.startTime + Duration.seconds(number)) }
        // An earlier rollback.
        try versions.remember(old[1], granted: [])
        let list = folder.url.appending(path: "plugins/plugins.yaml")
        for (file, pinned) in [(text(4), old[2]), ("broken", old[0])] {
            try folder.write("plugins/one/init.lua", Data(file.utf8))
            try Data("- name: one\n".utf8).write(to: list)
            #expect(try await BuiltProgram.run(["plugin", "rollback", "one"], in: folder.url).status == 0)
            #expect(try String(contentsOf: list, encoding: .utf8).contains(pinned.version), "\(file)")
        }
        let released = try await BuiltProgram.run(["plugin", "rollback", "one", "--release"], in: folder.url)
        #expect(
            released.status == 0 && released.output.contains("the content of its folder cannot be live: plugins/one/init.lua:1:"),
            "\(released)"
        )
    }

    @Test func `an explicitly empty list can be extended`() async throws {
        let folder = try ScriptFolder([
            "plugins/one/init.lua": "return { name = 'one', version = '1' }", "plugins/plugins.yaml": "# none yet\n[]\n",
        ])
        #expect(try await BuiltProgram.run(["plugin", "enable", "one"], in: folder.url).status == 0)
        let list = try String(contentsOf: folder.url.appending(path: "plugins/plugins.yaml"), encoding: .utf8)
        #expect(list == "# none yet\n- name: one\n")
    }

    @Test func `rollback to a version that rejects the current settings is refused`() async throws {
        let folder = try ScriptFolder([
            "plugins/one/init.lua": "return { name = 'one', version = '2', config = { x = { type = 'integer' } } }",
            "plugins/plugins.yaml": "- name: one\n  config: { x: 1 }\n",
        ])
        let versions = PluginVersions(path: folder.url.appending(path: "pushhost-data/plugins").path)
        let old = PluginSource(
            name: "one", folder: "plugins/one", files: ["init.lua": Array("return { name = 'one', version = '1' }".utf8)])
        try versions.save(old, now: EmbeddedWorld.startTime)
        let refused = try await BuiltProgram.run(["plugin", "rollback", "one", old.version], in: folder.url)
        #expect(
            refused.status == 2 && refused.errors.contains("version \(old.version) of one cannot be live: "), "\(refused.errors)")
        let list = try String(contentsOf: folder.url.appending(path: "plugins/plugins.yaml"), encoding: .utf8)
        #expect(list == "- name: one\n  config: { x: 1 }\n")
    }

    @Test func `a lab's time does not advance while plugins work, and does while they sleep`() async throws {
        let folder = try ScriptFolder([
            "plugins/late/init.lua": """
            local push = require "push"
            return { name = "late", version = "1", needs = { "hub.send", "kv" }, hooks = { on_register = {
              on_failure = "fail_closed", cpu = "10s", timeout = "10s",
              run = function(candidate)
                return { once_kept = function()
                  for i = 1, 50 do push.kv.add "work" end
                  push.send { to = push.tag.device(candidate.id), alert = "at once" }
                  push.sleep "10s"
                  for i = 1, 50 do push.kv.add "work" end
                  push.send { to = push.tag.device(candidate.id), alert = "ten seconds later" }
                end }
              end,
            } } }
            """,
            "plugins/plugins.yaml": "- name: late\n  grants: [hub.send, kv]\n",
            "flow.lua": """
            local push = require "push"
            local phone = push.device { name = "ana-1" }
            push.install("ana-1", { device = phone, user = "ana" })
            push.expect(phone:wait_for { contains = "at once", within = "1s" }).to.exist()
            push.expect(phone:wait_for { contains = "later", within = "11s" }).to.exist()
            """,
        ])
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--lab"], in: folder.url)
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        let run = try await BuiltProgram.run(["run", "flow.lua", "--target", "http://localhost:\(port)"], in: folder.url)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("virtual 10 s"), "\(run.output)")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test(
        arguments: [
            ("new Greet", "plugin.name"), ("new ../x", "plugin.name"), ("new there", "init.exists"), ("test ther", "plugin.not_found"),
            ("test there", "test.no_specs"),
            ("enable nothere", "plugin.not_found"), ("enable broken", "script.syntax"), ("enable wrong", "plugin.manifest"),
            ("disable there", "plugin.not_listed"), ("grant there kv", "plugin.not_listed"), ("grant listed hub.sent", "usage.value"),
            ("revoke listed hub.send", "plugin.not_granted"), ("rollback listed", "plugin.no_version"),
            ("rollback listed abcdef", "plugin.no_version"), ("rollback there", "plugin.not_listed"),
        ])
    func `an impossible command is rejected with its code and changes nothing`(line: String, code: String) async throws {
        let folder = try ScriptFolder([
            "plugins/there/init.lua": "return { name = 'there', version = '1' }", "plugins/broken/init.lua": "return {",
            "plugins/wrong/init.lua": "return { name = 'wrng', version = '1' }",
            "plugins/listed/init.lua": "return { name = 'listed', version = '1' }",
            "plugins/plugins.yaml": "- name: listed\n  grants: [kv]\n",
        ])
        let program = try await BuiltProgram.run(["plugin"] + line.split(separator: " ").map(String.init), in: folder.url)
        #expect(program.status == 2)
        #expect(program.errors.contains("error[\(code)]"), "\(program.errors)")
        let list = try String(contentsOf: folder.url.appending(path: "plugins/plugins.yaml"), encoding: .utf8)
        #expect(list == "- name: listed\n  grants: [kv]\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "plugins").path).sorted()
        #expect(names == ["broken", "listed", "plugins.yaml", "there", "wrong"])
    }

    @Test func `plugin check finds faults of a plugin and of its configuration`() async throws {
        let folder = try ScriptFolder([
            "plugins/typo/init.lua":
                "local push = require 'push'\nreturn { name = 'typo', version = '1', hooks = { after_send = function() push.sned {} end } }",
            "plugins/set/init.lua": "return { name = 'set', version = '1', config = { limit = { type = 'integer' } } }",
            "plugins/plugins.yaml": "- name: set\n  config: { limt: 3 }\n",
        ])
        let program = try await BuiltProgram.run(["plugin", "check"], in: folder.url)
        #expect(program.status == 3)
        #expect(program.output.contains("push has no \"sned\"; did you mean \"send\"?"), "\(program.output)")
        #expect(program.output.contains("set: config.limt is not a setting of the plugin; did you mean \"limit\"?"), "\(program.output)")
    }
}
