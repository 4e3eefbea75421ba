import Bindings
import Foundation
import HostSupport
import Lua
import Support
import Testing

/// The examples on the pages of error codes: each mistake raises its code, and each fix does not.
@Suite struct CatalogueExampleTests {
    private static func pages(_ language: ErrorDescription.Example.Language) -> [String] {
        ErrorCatalogue.all.filter { $0.example?.language == language }.map(\.code)
            .filter { !specs.contains($0) }
    }

    /// Pages about specs. Their examples are separate files.
    private static let specs = ["test.order", "test.empty"]

    @Test(arguments: specs)
    func `a mistake in a spec raises its code, and the fix does not`(code: String) async throws {
        let example = try #require(ErrorCatalogue.entry(code)?.example)
        let folder = try ScriptFolder(["mistake_spec.lua": example.mistake, "cure_spec.lua": example.fix])
        let mistaken = try await BuiltProgram.run(["test", "mistake_spec.lua"], in: folder.url)
        #expect(mistaken.status == 3, "\(mistaken.output)")
        #expect((mistaken.output + mistaken.errors).contains("[\(code)]"))
        let cured = try await BuiltProgram.run(["test", "cure_spec.lua"], in: folder.url)
        #expect(cured.status == 0, "\(cured.output)")
    }

    /// Adds what an example presupposes: a session of alice and her phone.
    private static func whole(_ example: String) -> String {
        let names = ["session", "phone"].filter { example.contains($0) }
        let opening = names.isEmpty ? "" : "local session = login 'alice' local phone = push.device { name = 'alice-1' } "
        // Without the helper functions of the other tests: push.args must be the first call.
        let login =
            names.isEmpty
            ? ""
            : """
            local function login(name) push.account { username = name, password = push.secret 'demo_password' } \
            return push.login { username = name, password = push.secret 'demo_password' } end 
            """
        return "local push = require 'push' \(login)\(opening)\(example)"
    }

    private static func run(_ example: String) async throws -> Rehearsal {
        try await rehearse(whole(example), opening: "", limits: LuaLimits(memory: 64 << 20, cpu: .seconds(3)))
    }

    @Test(arguments: pages(.lua))
    func `a mistake raises its code, and the fix does not`(code: String) async throws {
        let entry = try #require(ErrorCatalogue.entry(code))
        let example = try #require(entry.example)
        let cured = try await Self.run(example.fix)
        if let error = cured.error { Issue.record("\(error)") }
        #expect(cured.hasPassed)
        #expect(!cured.warnings.contains { $0.code == code })
        let checker = FlowChecker(.standard)
        func codes(_ script: String) -> [String] {
            checker.findings(in: Array(Self.whole(script).utf8), name: "example.lua").map(\.code)
        }
        #expect(!codes(example.fix).contains(code))
        guard entry.kinds != [.finding] else { return #expect(codes(example.mistake).contains(code)) }
        let mistaken = try await Self.run(example.mistake)
        if entry.kinds.first == .warning {
            #expect(mistaken.warnings.map(\.code).contains(code))
        } else {
            let error = try #require(mistaken.error, "the mistake of \(code) raised nothing")
            #expect(error.code == code, "\(error)")
            #expect(entry.exitCodes.contains(ErrorDescription.exitCode(of: error)))
        }
    }

    @Test(arguments: pages(.sh))
    func `a mistake on the command line is rejected with its code, and the fix is accepted`(code: String) async throws {
        let example = try #require(ErrorCatalogue.entry(code)?.example)
        let folder = try ScriptFolder()
        for name in ["scripts", "docs"] {
            let target = BuiltProgram.root.appending(path: name)
            try FileManager.default.createSymbolicLink(at: folder.url.appending(path: name), withDestinationURL: target)
        }
        try folder.write("README.md", Data())
        func run(_ line: String) async throws -> BuiltProgram {
            try await BuiltProgram.shell(line.replacing("pushhost ", with: "\"$P\" "), in: folder.url)
        }
        let mistaken = try await run(example.mistake)
        #expect(mistaken.status == 2)
        #expect(mistaken.errors.contains("error[\(code)]"), "\(mistaken.errors)")
        #expect(mistaken.errors.contains("pushhost explain \(code)"))
        let cured = try await run(example.fix)
        #expect(cured.status == 0, "\(cured.errors)")
    }

    @Test func `most codes that a script can cause have an example`() {
        #expect(Self.pages(.lua).count > 60)
        #expect(Self.pages(.sh).count >= 8)
    }
}
