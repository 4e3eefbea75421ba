import Foundation
import HostSupport
import Support
import Testing

/// `push.run` reads only scripts of the project.
@Suite struct OutsideScriptTests {
    private static let secret = "hunter2hunter2"

    /// Tries to run a file, and prints what the script learns about it.
    private static func attempt(_ file: String) -> String {
        """
        local push = require "push"
        local ok, e = pcall(push.run, "\(file)")
        print(ok, e and e.code, e and e.message, e and e.hint)
        error(e, 0)
        """
    }

    /// A project in `project`, with a file beside it that is not one of its scripts.
    private func project() throws -> ScriptFolder {
        let folder = try ScriptFolder([
            "other/outside.lua": "\(Self.secret) = =", "project/flows/pw": Self.secret, "project/flows/sub/inner.lua": "return 1",
            "project/top.lua": "return 2",
        ])
        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: folder.url.appending(path: "project/flows/\(name)").path, withDestinationPath: target)
        }
        try link("file.lua", to: "../../other/outside.lua")
        try link("folder", to: "../../other")
        try link("passwd.lua", to: "/etc/passwd")
        try link("hidden.lua", to: "pw")
        try link("near.lua", to: "sub/inner.lua")
        return folder
    }

    @Test(arguments: [
        "/etc/passwd", "../../../../../../etc/passwd", "pw", "./pw", "file.lua", "folder/outside.lua", "passwd.lua", "hidden.lua",
        "../../other/outside.lua", "../../other/absent.lua", "sub/../../../other/outside.lua",
    ])
    func `a file that is not a script of the project is neither opened nor quoted`(file: String) async throws {
        let folder = try project()
        try folder.write("project/flows/flow.lua", Data(Self.attempt(file).utf8))
        for (directory, path) in [("project", "flows/flow.lua"), ("project/flows", "flow.lua"), ("other/..", "project/flows/flow.lua")] {
            // If the working directory contains both, only links and files that are not Lua are outside.
            if directory == "other/..", file.hasSuffix(".lua"), file != "passwd.lua", file != "hidden.lua" { continue }
            let run = try await BuiltProgram.run(["run", path], in: folder.url.appending(path: directory))
            #expect(run.output.contains("script.outside"), "\(directory): \(run.output)\(run.errors)")
            #expect(!(run.output + run.errors).contains(Self.secret) && !(run.output + run.errors).contains("root:"))
            #expect(!run.output.contains("did you mean"), "\(run.output)")
            #expect(run.status == 1)
        }
    }

    @Test func `an absolute path follows the same rules`() async throws {
        let folder = try project()
        for (file, isInside) in [("project/flows/sub/inner.lua", true), ("project/top.lua", true), ("other/outside.lua", false)] {
            let path = folder.url.appending(path: file).path
            try folder.write("project/flows/flow.lua", Data("require('push').run \"\(path)\"".utf8))
            let run = try await BuiltProgram.run(["run", "flows/flow.lua"], in: folder.url.appending(path: "project"))
            #expect(run.status == (isInside ? 0 : 1), "\(run.errors)")
            if !isInside { #expect(run.errors.contains("error[script.outside]")) }
        }
    }

    @Test(arguments: ["sub/inner.lua", "../top.lua", "near.lua", "./sub/../sub/inner.lua"])
    func `scripts of the project run, also through links within it`(file: String) async throws {
        let folder = try project()
        try folder.write("project/flows/flow.lua", Data("print(require('push').run('\(file)').result)".utf8))
        let run = try await BuiltProgram.run(["run", "flows/flow.lua"], in: folder.url.appending(path: "project"))
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func `a nested flow may name the same scripts as its outer flow, from any working directory`() async throws {
        let folder = try ScriptFolder([
            "flows/main.lua": "require('push').run 'sub/a.lua'", "flows/sub/a.lua": "require('push').run '../b.lua'", "flows/b.lua": "",
            "flows/c.lua": "require('push').run '../d.lua'", "d.lua": "", "elsewhere/x": "",
        ])
        let path = folder.url.path
        let elsewhere = folder.url.appending(path: "elsewhere")
        #expect(try await BuiltProgram.run(["run", "\(path)/flows/main.lua"], in: elsewhere).status == 0)
        let refused = try await BuiltProgram.run(["run", "\(path)/flows/c.lua"], in: elsewhere)
        #expect(refused.errors.contains("error[script.outside]"), "\(refused.errors)")
    }

    @Test func `a spec runs only flows of the folder above it, from any working directory`() async throws {
        let spec = "local push = require 'push' push.test.it('x', function() push.run"
        let folder = try ScriptFolder([
            "p/flows/spec/a_spec.lua": "\(spec) '../b.lua' end)", "p/flows/b.lua": "", "p/c.lua": "\(Self.secret)",
            "p/flows/spec/b_spec.lua": "\(spec) '../../c.lua' end)", "elsewhere/x": "",
        ])
        let elsewhere = folder.url.appending(path: "elsewhere")
        let run = try await BuiltProgram.run(["test", "\(folder.url.path)/p/flows/spec/a_spec.lua"], in: elsewhere)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let refused = try await BuiltProgram.run(["test", "\(folder.url.path)/p/flows/spec/b_spec.lua"], in: elsewhere)
        #expect(refused.status == 1)
        #expect(refused.output.contains("script.outside") && !refused.output.contains(Self.secret), "\(refused.output)")
    }
}
