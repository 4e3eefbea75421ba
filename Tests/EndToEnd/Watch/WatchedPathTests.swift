import Foundation
import HostSupport
import Support
import Synchronization
import Testing

/// What counts as a change: deleted and restored files, links on the path, permissions, secrets.
@Suite struct WatchedPathTests {
    private static let passing = "local push = require 'push' push.test.it('passes', function() push.expect(1).to.equal(1) end)"
    private static let failing = "local push = require 'push' push.test.it('fails', function() push.expect(1).to.equal(2) end)"

    private func write(_ name: String, _ text: String, in folder: ScriptFolder) throws {
        try folder.write(name, Data(text.utf8))
    }

    private func makeFolder(_ name: String, in folder: ScriptFolder) throws {
        try FileManager.default.createDirectory(at: folder.url.appending(path: name), withIntermediateDirectories: true)
    }

    private func remove(_ name: String, in folder: ScriptFolder) throws {
        try FileManager.default.removeItem(at: folder.url.appending(path: name))
    }

    private func link(_ name: String, to target: String, in folder: ScriptFolder) {
        #expect(symlink(target, folder.url.appending(path: name).path) == 0)
    }

    private func move(_ name: String, to other: String, in folder: ScriptFolder) {
        #expect(rename(folder.url.appending(path: name).path, folder.url.appending(path: other).path) == 0)
    }

    private func end(_ watch: Dialogue) async {
        watch.signal(SIGTERM)
        _ = await watch.end()
    }

    // MARK: - Deleted files

    @Test func `deleting a spec or a folder of specs removes its failures`() async throws {
        let folder = try ScriptFolder(["a_spec.lua": Self.passing, "b_spec.lua": Self.failing])
        try makeFolder("more", in: folder)
        try write("more/c_spec.lua", Self.failing, in: folder)
        let watch = try Dialogue(["test", "--watch"], in: folder.url)
        try await watch.hear("3 tests · 2 failed")
        try remove("b_spec.lua", in: folder)
        try await watch.hear("b_spec.lua is gone")
        try await watch.hear("2 tests · 1 failed")
        try remove("more", in: folder)
        try await watch.hear("more/c_spec.lua is gone")
        try await watch.hear("PASS  1 spec · 1 test")
        // The last spec.
        try remove("a_spec.lua", in: folder)
        try await watch.hear("error[test.no_specs]")
        try write("d_spec.lua", Self.passing, in: folder)
        try await watch.hear("PASS  1 spec · 1 test")
        await end(watch)
    }

    @Test func `deleting a flow that a spec runs makes the spec fail`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'x'"])
        try makeFolder("specs", in: folder)
        let spec = "local push = require 'push' push.test.it('runs it', function() push.run '../flow.lua' end)"
        try write("specs/a_spec.lua", spec, in: folder)
        let watch = try Dialogue(["test", "specs", "--watch"], in: folder.url)
        try await watch.hear("PASS")
        try remove("flow.lua", in: folder)
        try await watch.hear("flow.lua is gone")
        try await watch.hear("✗ runs it")
        // The folder named on the command line is deleted and created again.
        try remove("specs", in: folder)
        try await watch.hear("error[script.not_found]: specs does not exist")
        try write("flow.lua", "print 'x'", in: folder)
        try makeFolder("specs", in: folder)
        try write("specs/a_spec.lua", spec, in: folder)
        try await watch.hear("PASS")
        await end(watch)
    }

    @Test func `a deleted flow is reported and runs again when it is restored`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("PASS")
        try remove("flow.lua", in: folder)
        try await watch.hear("flow.lua is gone")
        try await watch.hear("error[script.not_found]: flow.lua does not exist")
        try write("flow.lua", "print 'second'", in: folder)
        try await watch.hear("│ second")
        await end(watch)
    }

    // MARK: - Secrets

    @Test func `a changed or new file of secrets is a change`() async throws {
        let folder = try ScriptFolder([
            "flow.lua": "local push = require 'push' print(push.secret 'key' and 'the key is there')"
        ])
        try write("demo_secrets.json", "{ \"key\": ", in: folder)
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("error[secrets.invalid]")
        try write("demo_secrets.json", "{ \"key\": \"x\" }", in: folder)
        try await watch.hear("demo_secrets.json has changed")
        try await watch.hear("│ the key is there")
        try await watch.hear("PASS")
        try write("demo_secrets.json", "{}", in: folder)
        try await watch.hear("error[secret.not_found]")
        try await watch.hear("FAIL")
        try write("secrets.json", "{ \"key\": \"y\" }", in: folder)
        try await watch.hear("secrets.json has changed")
        try await watch.hear("│ the key is there")
        await end(watch)
    }

    @Test func `the secrets that a spec's flow reads are watched`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').secret 'key'"])
        try makeFolder("spec", in: folder)
        let spec = "local push = require 'push' push.test.it('has it', function() push.run '../flow.lua' end)"
        try write("spec/a_spec.lua", spec, in: folder)
        try remove("demo_secrets.json", in: folder)
        let watch = try Dialogue(["test", "--watch"], in: folder.url)
        try await watch.hear("FAIL")
        try write("demo_secrets.json", "{ \"key\": \"x\" }", in: folder)
        try await watch.hear("demo_secrets.json has changed")
        try await watch.hear("PASS")
        await end(watch)
    }

    // MARK: - Links

    @Test func `a link on the script's path that changes its target is a change`() async throws {
        let folder = try ScriptFolder()
        for version in 1...3 {
            try makeFolder("v\(version)", in: folder)
            try write("v\(version)/a.lua", "print 'version \(version)'", in: folder)
        }
        try makeFolder("links", in: folder)
        link("cur", to: "links/middle", in: folder)
        link("links/middle", to: "\(folder.url.path)/v1", in: folder)
        let watch = try Dialogue(["run", "cur/a.lua", "--watch"], in: folder.url)
        try await watch.hear("│ version 1")
        try await watch.hear("PASS")
        link("new", to: "../v2", in: folder)
        move("new", to: "links/middle", in: folder)
        try await watch.hear("│ version 2")
        try await watch.hear("PASS")
        link("new", to: "v3", in: folder)
        move("new", to: "cur", in: folder)
        try await watch.hear("│ version 3")
        try await watch.hear("PASS")
        // Only the current targets of the links are watched.
        try write("v1/a.lua", "print 'nobody sees it'", in: folder)
        try write("v3/a.lua", "print 'the end'", in: folder)
        #expect(!(try await watch.hear("│ the end")).contains("nobody"))
        await end(watch)
    }

    @Test func `a cycle of links counts as a missing file`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').run 'a.lua'"])
        link("a.lua", to: "b.lua", in: folder)
        link("b.lua", to: "a.lua", in: folder)
        let watch = try Dialogue(["run", "flow.lua", "--watch"], in: folder.url)
        try await watch.hear("FAIL")
        try remove("b.lua", in: folder)
        try write("b.lua", "print 'a file'", in: folder)
        try await watch.hear("│ a file")
        await end(watch)
    }

    // MARK: - Permissions

    /// Runs the program without root's right to read every file.
    private func unprivileged(_ arguments: [String], in folder: ScriptFolder) throws -> Dialogue {
        guard geteuid() == 0 else { return try Dialogue(arguments, in: folder.url) }
        let rights = "-dac_override,-dac_read_search"
        return try Dialogue(
            ["--bounding-set=\(rights)", "--inh-caps=\(rights)", BuiltProgram.executable.path] + arguments, tool: "/usr/bin/setpriv",
            in: folder.url)
    }

    @Test func `a script that becomes readable or unreadable is a change`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'readable'"])
        let path = folder.url.appending(path: "flow.lua").path
        chmod(path, 0)
        let watch = try unprivileged(["run", "flow.lua", "--watch"], in: folder)
        try await watch.hear("cannot be read: Permission denied")
        chmod(path, 0o644)
        try await watch.hear("flow.lua has changed")
        try await watch.hear("│ readable")
        try await watch.hear("PASS")
        chmod(path, 0)
        try await watch.hear("cannot be read: Permission denied")
        await end(watch)
    }

    @Test func `changes are found in a folder that can be entered but not read`() async throws {
        let folder = try ScriptFolder()
        try makeFolder("box", in: folder)
        try write("box/flow.lua", "print 'first'", in: folder)
        let box = folder.url.appending(path: "box").path
        chmod(box, 0o311)
        defer { chmod(box, 0o755) }
        let watch = try unprivileged(["run", "box/flow.lua", "--watch"], in: folder)
        try await watch.hear("PASS")
        try write("box/flow.lua", "print 'second'", in: folder)
        try await watch.hear("│ second")
        try await watch.hear("PASS")
        try remove("box/flow.lua", in: folder)
        try await watch.hear("error[script.not_found]")
        try write("box/flow.lua", "print 'third'", in: folder)
        try await watch.hear("│ third")
        await end(watch)
    }
}
