import Foundation
import HostSupport
import Support
import Testing

/// The package `Examples/NativePlugins`, which `make test` builds: a program with its own function and plugin in Swift.
@Suite struct NativeProgramTests {
    /// The program that `make examples` builds beside the tests.
    private static let executable = BuiltProgram.tests.appending(path: "our-pushhost")
    private static let example = BuiltProgram.root.appending(path: "Examples/NativePlugins")

    private static func run(_ arguments: String..., in folder: URL = example) async throws -> BuiltProgram {
        try #require(FileManager.default.isExecutableFile(atPath: executable.path), "run make examples first")
        return try await BuiltProgram.run(arguments, tool: executable, in: folder)
    }

    @Test func `a native function is called, described, checked and completed like the built-in ones`() async throws {
        let run = try await Self.run("run", "flows/nearby.lua")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("lisbon  iPhone  en-US  ▌The shop has opened"))
        #expect(try await Self.run("explain", "push.geo.distance").output.contains("Great-circle distance between two points"))
        #expect(try await Self.run("reference", "lua").output.contains("push.geo.distance"))
        let folder = try ScriptFolder([
            "a.lua": "require('push').geo.distanc { from = { 1, 2 }, to = { 3, 4 } }",
            "b.lua": "require('push').geo.distance { from = { 1, 2 } }",
            "c.lua": "require('push').geo.distance { from = { 1, 2 }, to = { 95, 4 } }",
        ])
        for (file, code, text) in [
            ("a.lua", "script.unknown_name", "did you mean \"distance\"?"), ("b.lua", "args.missing", "needs \"to\""),
            ("c.lua", "geo.no_place", "\"to\" is not a place on Earth"),
        ] {
            let failed = try await Self.run("run", file, in: folder.url)
            #expect(failed.status == 3)
            #expect(failed.errors.contains("error[\(code)]: ") && failed.errors.contains(text), "\(failed.errors)")
            if file != "c.lua" { #expect(try await Self.run("check", file, in: folder.url).output.contains(code)) }
        }
        #expect(try await BuiltProgram.run(["explain", "push.geo.distance"]).status == 2, "pushhost itself has no such function")
    }

    @Test func `a Lua plugin can call a native function if it has the grant`() async throws {
        let folder = try ScriptFolder([
            "plugins/near/init.lua": """
            local push = require "push"
            return { name = "near", version = "1.0", needs = { "native:geo" }, routes = { { path = "/km", auth = "open", run = function()
              return { json = { km = math.floor(push.geo.distance { from = { 38.72, -9.14 }, to = { 41.15, -8.61 } }) } }
            end } } }
            """,
            "plugins/near/near_spec.lua": """
            local push = require "push"
            push.test.describe("near", function()
              push.test.it("needs the grant", function()
                push.expect(push.test.plugin {}:request("/km").json.km).to.equal(273)
                local refused = push.test.plugin { grants = {} }
                local _, failure = push.try(refused.request, refused, "/km")
                push.expect(failure.code).to.equal "route.failed"
                push.expect(refused:log()[1]).to.contain "native:geo"
              end)
            end)
            """,
        ])
        let test = try await Self.run("plugin", "test", "near", in: folder.url)
        #expect(test.status == 0, "\(test.output)\(test.errors)")
    }

    @Test func `a native plugin is listed, takes part in sends, and is reconfigured while the server runs`() async throws {
        let folder = try ScriptFolder([
            "suppressed.txt": "i-2\n",
            "flow.lua": """
            local push = require "push"
            for n = 1, 2 do push.install("i-" .. n, { device = push.device { name = "p" .. n }, tags = { "World" } }) end
            local outcome = push.send { to = "World", alert = "Hello" }
            push.expect(outcome.sent).to.equal(1)
            """,
        ])
        func plugin(_ arguments: String...) async throws -> BuiltProgram {
            try await BuiltProgram.run(["plugin"] + arguments, tool: Self.executable, in: folder.url)
        }
        let refused = try await plugin("enable", "suppression-list")
        #expect(refused.status == 2 && refused.errors.contains("config.file is missing"), "\(refused.output)\(refused.errors)")
        try folder.write("plugins/plugins.yaml", Data("- name: suppression-list\n  config: { file: absent.txt }\n".utf8))
        #expect(try await plugin("check").output.contains("suppression-list cannot start: absent.txt cannot be read"))
        try folder.write("plugins/plugins.yaml", Data("- name: suppression-list\n  config: { file: suppressed.txt }\n".utf8))
        #expect(try await plugin("check").status == 0)
        for arguments in [["grant", "suppression-list", "kv"], ["rollback", "suppression-list"], ["test", "suppression-list"]] {
            let wrong = try await BuiltProgram.run(["plugin"] + arguments, tool: Self.executable, in: folder.url)
            #expect(wrong.status == 2 && wrong.errors.contains("error[plugin.native]"), "\(wrong.output)\(wrong.errors)")
        }

        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--lab"], tool: Self.executable.path, in: folder.url)
        try await server.hear("plugin suppression-list: 1 on the list")
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        let run = try await Self.run("run", "flow.lua", "--target", "http://localhost:\(port)", in: folder.url)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("– 1 device skipped: suppression-list: on the suppression list"), "\(run.output)")
        let list = try await plugin("list")
        #expect(list.output.contains("suppression-list  native (1.0)") && list.output.contains("before_deliver"), "\(list.output)")

        try folder.write(
            "plugins/plugins.yaml", Data("- name: suppression-list\n  config: { file: suppressed.txt, reason: they asked for it }\n".utf8))
        try await server.hear("is live, reconfigured")
        let again = try await Self.run("run", "flow.lua", "--target", "http://localhost:\(port)", in: folder.url)
        #expect(again.output.contains("– 1 device skipped: suppression-list: they asked for it"), "\(again.output)")
        // An unreadable file rejects the devices, as the plugin declares, and the error is logged.
        try FileManager.default.removeItem(at: folder.url.appending(path: "suppressed.txt"))
        #expect(try await Self.run("run", "flow.lua", "--target", "http://localhost:\(port)", in: folder.url).status == 1)
        try await server.hear("before_deliver failed: suppressed.txt cannot be read")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `the page shows the files of the example`() throws {
        let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/native-plugins.md"), encoding: .utf8)
        for file in ["Package.swift", "Sources/Program.swift", "Sources/Distance.swift", "Sources/SuppressionList.swift"] {
            let source = try String(contentsOf: Self.example.appending(path: file), encoding: .utf8)
            let block = page.components(separatedBy: "```swift \(file)\n").dropFirst().first?.components(separatedBy: "```")[0]
            let text = try #require(block, "\(file) is not on the page")
            #expect(source.contains(text), "\(file) is another one on the page")
        }
    }
}
