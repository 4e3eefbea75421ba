import Foundation
import HostSupport
import PushModel
import Support
import Testing

@Suite struct InitTests {
    private static let files = [
        ".gitignore", ".luacheckrc", ".luarc.json", "README.md", "scripts/demo_secrets.json", "scripts/spec/welcome_spec.lua",
        "scripts/welcome.lua", "types/push.lua",
    ]

    /// The files below a folder, except the fixture's own.
    private func files(_ folder: URL) throws -> [String] {
        let manager = FileManager.default
        return try manager.subpathsOfDirectory(atPath: folder.path).sorted().filter { path in
            var isFolder: ObjCBool = false
            _ = manager.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
            return !isFolder.boolValue && path != "demo_secrets.json"
        }
    }

    @Test func `a new project has a passing flow, and init prints the next steps`() async throws {
        let folder = try ScriptFolder()
        let made = try await BuiltProgram.run(["init", "some/push"], in: folder.url)
        #expect(made.status == 0)
        #expect(made.errors == "")
        let project = folder.url.appending(path: "some/push")
        #expect(try files(project) == Self.files)
        for path in Self.files { #expect(made.output.contains("  \(path) "), "\(path)") }
        #expect(made.output.contains("  cd some/push\n  pushhost run scripts/welcome.lua"))
        let run = try await BuiltProgram.run(["run", "scripts/welcome.lua", "--user", "wei"], in: project)
        #expect(run.status == 0)
        #expect(run.output.contains("wei-1") && run.output.contains("▌Welcome — Welcome, wei!"))
        let json = try await BuiltProgram.run(["run", "--json", "scripts/welcome.lua"], in: project)
        #expect(try JSON(parsing: json.output)["result"]?["sent"]?.int == 1)
        let spec = try await BuiltProgram.run(["test"], in: project)
        #expect(spec.status == 0, "\(spec.output)\(spec.errors)")
        #expect(spec.output.contains("PASS  1 spec · 2 tests"))
    }

    @Test func `the files for editors and linters are those of the program`() async throws {
        let folder = try ScriptFolder()
        #expect(try await BuiltProgram.run(["init"], in: folder.url).status == 0)
        func text(_ path: String) throws -> String { try String(contentsOf: folder.url.appending(path: path), encoding: .utf8) }
        #expect(try await BuiltProgram.run(["reference", "stubs"]).output == text("types/push.lua"))
        #expect(try await BuiltProgram.run(["reference", "luacheck"]).output == text(".luacheckrc"))
        #expect(try JSON(parsing: text(".luarc.json"))["runtime.version"]?.string == "Lua 5.4")
        #expect(try text(".gitignore").split(separator: "\n").contains("/secrets.json"))
    }

    @Test func `init says that it adds files to a folder that has others, and changes none of them`() async throws {
        let folder = try ScriptFolder()
        try FileManager.default.createDirectory(at: folder.url.appending(path: "mine"), withIntermediateDirectories: true)
        try folder.write("mine/notes.txt", Data("kept".utf8))
        let added = try await BuiltProgram.run(["init", "mine"], in: folder.url)
        #expect(added.status == 0)
        #expect(added.output.hasPrefix("Added to mine, which has other files; none of them was changed\n"), "\(added.output)")
        #expect(try String(contentsOf: folder.url.appending(path: "mine/notes.txt"), encoding: .utf8) == "kept")
        let again = try await BuiltProgram.run(["init", "mine"], in: folder.url)
        #expect(again.status == 2 && again.errors.contains("nothing was written"), "\(again.errors)")
    }

    @Test func `the commands on the project's page exist`() async throws {
        let folder = try ScriptFolder()
        _ = try await BuiltProgram.run(["init"], in: folder.url)
        let page = try String(contentsOf: folder.url.appending(path: "README.md"), encoding: .utf8)
        let paths = page.matches(of: /`([a-z_.]+\/[a-z_.\/]*)`/).map { String($0.1) }
        #expect(paths.count >= 3)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: folder.url.appending(path: path).path), "\(path)")
        }
        for line in page.split(separator: "\n") where line.hasPrefix("pushhost explain") {
            let command = String(line.prefix { $0 != "#" }).replacing("pushhost", with: "$P")
            #expect(try await BuiltProgram.shell(command, in: folder.url).status == 0)
        }
    }

    @Test(
        arguments: [
            ("README.md", "README.md"), (".luacheckrc", ".luacheckrc"), ("scripts", "scripts"), ("types", "types"),
        ])
    func `init writes nothing if one of its files exists, or a file blocks a folder`(path: String, named: String) async throws {
        let folder = try ScriptFolder()
        try folder.write(path, Data("mine".utf8))
        let refused = try await BuiltProgram.run(["init"], in: folder.url)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("error[init.exists]: . already has \(named)"), "\(refused.errors)")
        #expect(refused.output == "")
        #expect(try files(folder.url) == [path])
        #expect(try Data(contentsOf: folder.url.appending(path: path)) == Data("mine".utf8))
    }

    @Test func `a second init is rejected, and a dangling link counts as an existing file`() async throws {
        let folder = try ScriptFolder()
        #expect(try await BuiltProgram.run(["init", "a"], in: folder.url).status == 0)
        let again = try await BuiltProgram.run(["init", "a"], in: folder.url)
        #expect(again.status == 2)
        for path in Self.files { #expect(again.errors.contains(path), "\(path)") }
        try FileManager.default.createDirectory(at: folder.url.appending(path: "b"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.appending(path: "b/.luarc.json").path, withDestinationPath: "/nowhere/at/all")
        #expect(try await BuiltProgram.run(["init", "b"], in: folder.url).errors.contains(".luarc.json"))
    }

    @Test func `a failing init removes what it wrote and leaves existing files`() async throws {
        let folder = try ScriptFolder()
        // Limits files to a few kilobytes, like a full disk: the editor stub does not fit.
        let full = "trap '' XFSZ; ulimit -f 8; "
        let fresh = try await BuiltProgram.shell(full + "\"$P\" init new/project", in: folder.url)
        #expect(fresh.status == 1)
        #expect(fresh.errors.contains("error[init.failed]: new/project/types/push.lua could not be written: File too large"))
        #expect(try files(folder.url) == [])
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "new").path))
        let old = folder.url.appending(path: "old/scripts")
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: old.appending(path: "mine.lua"))
        #expect(try await BuiltProgram.shell(full + "\"$P\" init old", in: folder.url).status == 1)
        #expect(try files(folder.url) == ["old/scripts/mine.lua"])
        #expect(!FileManager.default.fileExists(atPath: old.appending(path: "spec").path))
    }

    @Test func `an unwritable location is reported`() async throws {
        let folder = try ScriptFolder(["file.txt": ""])
        let below = try await BuiltProgram.run(["init", "file.txt/project"], in: folder.url)
        #expect(below.status == 1)
        #expect(below.errors.contains("file.txt/project could not be written: Not a directory"))
        #expect(try await BuiltProgram.run(["init", ""], in: folder.url).status == 2)
        #expect(try await BuiltProgram.run(["init", "/proc/nothing"], in: folder.url).status == 1)
    }
}
