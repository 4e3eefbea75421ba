import Foundation
import HostSupport
import Support
import Testing

/// Modules that flows load with `require`.
@Suite struct SharedCodeTests {
    private static let files = [
        "flows/flow.lua": """
        local push = require "push"
        local lib = require "lib.phones"
        print(lib.name, require "lib.phones" == lib, require "top")
        """,
        "flows/lib/phones.lua": "local push = require 'push' push.sleep '1s' return { name = ... }",
        "top.lua": "return 'of the working directory'",
        "flows/bad.lua": "require 'lib.broken'",
        "flows/lib/broken.lua": "local push = require \"push\"\npush.send { too = \"x\" }",
        "flows/circle.lua": "require 'lib.a'",
        "flows/lib/a.lua": "require 'lib.b'",
        "flows/lib/b.lua": "require 'lib.a'",
        "flows/typo.lua": "require 'lib.phone'",
        "flows/out.lua": "require '..top'",
    ]

    @Test func `a module is found beside the flow or in the working directory, and runs once`() async throws {
        let folder = try ScriptFolder(Self.files)
        let run = try await BuiltProgram.run(["run", "flows/flow.lua"], in: folder.url)
        #expect(run.status == 0)
        #expect(run.output.contains("lib.phones    true    of the working directory"), "\(run.output)")
        #expect(run.output.contains("virtual 1 s"))
    }

    @Test(arguments: [
        ("bad", "flows/lib/broken.lua:2"), ("circle", "lib.a → lib.b → lib.a"), ("typo", "did you mean 'lib.phones'?"),
        ("out", "script.module_name"),
    ])
    func `an error in a module is reported with its location`(flow: String, expected: String) async throws {
        let folder = try ScriptFolder(Self.files)
        let run = try await BuiltProgram.run(["run", "flows/\(flow).lua"], in: folder.url)
        #expect(run.status == 3)
        #expect(run.errors.contains(expected), "\(run.errors)")
    }

    @Test(arguments: ["run", "check"])
    func `an invalid module file is rejected like a flow`(command: String) async throws {
        let folder = try ScriptFolder([
            "latin.lua": "require 'lib.latin'", "zero.lua": "require 'lib.zero'", "code.lua": "require 'lib.code'",
            "lib/zero.lua": "x = '\0'",
        ])
        try folder.write("lib/latin.lua", Data("local x = 1\n-- caf".utf8) + [0xe9, 0x0a])
        try folder.write("lib/code.lua", Data([0x1b, 0x4c, 0x75, 0x61, 0x54, 0x00, 0x19, 0x93]))
        for (flow, message) in [
            ("latin", "lib/latin.lua is not UTF-8: line 2 has invalid bytes"), ("zero", "lib/zero.lua has NUL characters"),
            ("code", "lib/code.lua is bytecode, which is not loaded: the module 'lib.code' must be the text of a script"),
        ] {
            let run = try await BuiltProgram.run([command, "\(flow).lua"], in: folder.url)
            let told = run.output + run.errors
            let isFailure = command == "run" && flow != "code"
            #expect(run.status == (isFailure ? 1 : 3) && told.contains(message) && told.contains("\(flow).lua:1"), "\(run.status) \(told)")
        }
        let alone = try await BuiltProgram.run(["run", "lib/latin.lua"], in: folder.url)
        #expect(alone.errors.contains("lib/latin.lua is not UTF-8: line 2 has invalid bytes"))
    }

    @Test func `check reports missing modules and no other faults of modules`() async throws {
        let folder = try ScriptFolder(Self.files)
        let good = try await BuiltProgram.run(["check", "flows/flow.lua", "flows/bad.lua"], in: folder.url)
        #expect(good.status == 0, "\(good.output)\(good.errors)")
        let bad = try await BuiltProgram.run(["check", "flows/typo.lua"], in: folder.url)
        #expect(bad.output.contains("looked for flows/lib/phone.lua, lib/phone.lua"), "\(bad.output)\(bad.errors)")
    }

    @Test func `a changed or new module runs the flow again`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print(require 'lib.words')", "lib/words.lua": "return 'first'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        #expect(try await watch.hear("PASS").contains("│ first"))
        try folder.write("lib/words.lua", Data("return require 'lib.more'".utf8))
        try await watch.hear("script.unknown_module")
        try await watch.hear("ERROR")
        try folder.write("lib/more.lua", Data("return 'second'".utf8))
        #expect(try await watch.hear("PASS").contains("│ second"))
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }
}
