import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// The command line, and the files that it names.
@Suite struct UsageTests {
    private static let flow = "local push = require 'push'\n"

    @Test(
        arguments: [
            (["run", "a.lua", "--seed"], "--seed: the value is missing"),
            (["run", "a.lua", "--timeout", "--trace"], "--timeout: the value"),
            (["run", "a.lua", "--seed", "-1"], "--seed: invalid value \"-1\"; expected a whole number from 0"),
            (["run", "a.lua", "--timeout", "0s"], "--timeout: invalid duration \"0s\""),
            (["run", "a.lua", "--timeout", "soon"], "a number of seconds"), (["runn", "a.lua"], "did you mean \"run\"?"),
            (["a.lua"], "write pushhost run a.lua"), (["spec/a_spec.lua"], "write pushhost test spec/a_spec.lua"),
            (["run", "a.lua", "--seeed", "3"], "did you mean \"--seed\"?"), (["run", "b.lua", "--seeed", "3"], "did you mean \"--seed\"?"),
        ])
    func `a mistake on the command line is reported with a fix`(arguments: [String], message: String) async throws {
        let folder = try ScriptFolder(["a.lua": Self.flow, "b.lua": Self.flow + "push.args { user = { type = 'string' } }"])
        let text = try await BuiltProgram.run(arguments, in: folder.url)
        #expect(text.status == 2)
        #expect(text.output == "")
        #expect(text.errors.contains(message), "\(text.errors)")
        guard arguments[0] == "run" else { return }
        let json = try await BuiltProgram.run(arguments + ["--json"], in: folder.url)
        #expect(json.status == 2)
        let document = try JSON(parsing: json.output)
        #expect(document["schema"]?.string == "pushhost.run/1")
        #expect(document["exit_code"]?.int == 2)
        let error = ["message", "hint"].map { document["error"]?[$0]?.string ?? "" }.joined(separator: " ")
        #expect(error.contains(message))
    }

    @Test func `a time limit can be a number of seconds`() async throws {
        let folder = try ScriptFolder(["a.lua": Self.flow])
        #expect(try await BuiltProgram.run(["run", "a.lua", "--timeout", "5"], in: folder.url).status == 0)
    }

    @Test func `the program ends with the code of SIGPIPE when its output is no longer read`() async throws {
        let tests = (1...200).map { "push.test.it('t\($0)', function() push.expect(1).to.equal(1) end)" }.joined(separator: "\n")
        let folder = try ScriptFolder([
            "endless.lua": Self.flow + "while true do push.log(('x'):rep(1000)) push.sleep(1) end", "a_spec.lua": Self.flow + tests,
        ])
        for line in ["$P run endless.lua --cpu-limit 60s", "$P test"] {
            let run = try await BuiltProgram.shell("{ \(line); echo $? >&2; } | head -n 1", in: folder.url)
            #expect(run.errors == "141\n", "\(line)")
        }
    }

    @Test(
        arguments: [
            (".", "scripts/nope.lua", nil), (".", "welcome.lua", "scripts/welcome.lua"), (".", "scripts/welcome", "scripts/welcome.lua"),
            ("scripts", "scripts/welcome.lua", "welcome.lua"), ("scripts", "welcome", "welcome.lua"),
            ("scripts", "welcom.lua", "welcome.lua"), ("docs", "welcome.lua", "../scripts/welcome.lua"),
            ("docs", "scripts/welcome.lua", "../scripts/welcome.lua"), (".", "scripts", nil),
        ] as [(String, String, String?)])
    func `a missing script is reported with similar files nearby`(folder: String, path: String, found: String?) async throws {
        let root = try project()
        for command in ["run", "test"] where path != "scripts" {
            let run = try await BuiltProgram.run([command, path], in: root.url.appending(path: folder))
            #expect(run.status == 2)
            #expect(run.errors.contains("\(path) does not exist"))
            #expect(found.map { run.errors.contains("did you mean \($0)?") } ?? !run.errors.contains("did you mean"), "\(run.errors)")
        }
    }

    @Test func `a project's secrets are found from its folders and from outside`() async throws {
        let root = try project()
        let script = "scripts/secret.lua"
        for (folder, path) in [(".", script), ("scripts", "secret.lua"), ("docs", "../\(script)")] {
            #expect(try await BuiltProgram.run(["run", path], in: root.url.appending(path: folder)).status == 0, "\(folder)")
        }
        let outside = root.url.appending(path: script).path
        #expect(try await BuiltProgram.run(["run", outside], in: URL(filePath: "/")).status == 0)
        // The search ends at the root of the project.
        try Data("{}".utf8).write(to: root.url.appending(path: "scripts/.luarc.json"))
        let missing = try await BuiltProgram.run(["run", outside], in: URL(filePath: "/"))
        #expect(missing.errors.contains("error[secret.not_found]"))
    }

    @Test func `secrets that are not JSON are reported with the location`() async throws {
        let folder = try ScriptFolder(["a.lua": Self.flow, "secrets.json": "{\n  \"a\": \"x\",\n}\n"])
        let run = try await BuiltProgram.run(["run", "a.lua"], in: folder.url)
        #expect(run.status == 2)
        #expect(run.errors.contains("error[secrets.invalid]: secrets.json:3:1 is not JSON"), "\(run.errors)")
    }

    @Test func `a step reports what it has scheduled and how many devices it reached`() async throws {
        let folder = try ScriptFolder([
            "a.lua": Self.flow + """
                push.step("three", function() for i = 1, 3 do push.schedule { after = 0, to = "x", alert = "a" } end end)
                push.step("two", function() push.schedule { after = 0, to = "x", alert = "a" } push.send { to = "y", alert = "a" } end)
                """
        ])
        let run = try await BuiltProgram.run(["run", "a.lua"], in: folder.url)
        #expect(run.output.contains("3 sends, all scheduled\n"))
        #expect(run.output.contains("2 sends, 0 of 0 sent, 1 scheduled\n"))
        let json = try JSON(parsing: try await BuiltProgram.run(["run", "a.lua", "--json"], in: folder.url).output)
        let states = json["steps"]?.array?.flatMap { $0["sends"]?.array ?? [] }.map { $0["state"]?.string }
        #expect(states == Array(repeating: "NoTargetFound", count: 5))
    }

    @Test func `results that cannot be written fail the run`() async throws {
        let folder = try ScriptFolder(["a_spec.lua": Self.flow + "push.test.it('adds up', function() end)"])
        let run = try await BuiltProgram.run(["test", "--junit", "none/out.xml"], in: folder.url)
        #expect(run.status == 2)
        #expect(run.output.hasSuffix("FAIL  1 spec · 1 test · results not written · 0 expectations · virtual 0 s\n"))
        let json = try await BuiltProgram.run(["test", "--junit", "none/out.xml", "--json"], in: folder.url)
        #expect(try JSON(parsing: json.output)["exit_code"]?.int == 2)
        let none = try await BuiltProgram.run(["test", "--filter", "nothing"], in: folder.url)
        #expect(none.errors.contains("there is 1 test in 1 spec, such as \"adds up\""))
    }

    @Test func `a multi-line error is printed on several lines, and an error of a patch names the invalid operation`() async throws {
        let folder = try ScriptFolder([
            "a.lua": Self.flow + "error('first\\nsecond')",
            "b.lua": Self.flow + """
                push.install("i", { device = push.device { name = "x", platform = "apns" } })
                push.patch("i", { { op = "ad", path = "/tags", value = "x" } })
                """,
            "c.lua": Self.flow + """
                push.account { username = "a", password = "p" }
                push.login({ username = "a", password = "p" }):send_secure { to = "a", payload = 1, expires_in = "60d" }
                """,
        ])
        #expect(try await BuiltProgram.run(["run", "a.lua"], in: folder.url).errors.contains("first\n  second\n"))
        let patch = try await BuiltProgram.run(["run", "b.lua"], in: folder.url)
        #expect(patch.errors.contains("operation 1 has the unknown op \"ad\"; did you mean \"add\"?"), "\(patch.errors)")
        #expect(try await BuiltProgram.run(["run", "c.lua"], in: folder.url).errors.contains("invalid lifetime 60 d"))
        let begun = try await BuiltProgram.run(["init", "my flows"], in: folder.url)
        #expect(begun.output.contains("  cd 'my flows'\n"))
    }

    private func project() throws -> ScriptFolder {
        let root = try ScriptFolder(["secrets.json": "{ \"real\": \"x\" }"])
        for folder in ["scripts", "docs"] {
            try FileManager.default.createDirectory(at: root.url.appending(path: folder), withIntermediateDirectories: true)
        }
        for (name, text) in [("welcome.lua", ""), ("secret.lua", "push.secret 'real'")] {
            try Data((Self.flow + text).utf8).write(to: root.url.appending(path: "scripts/\(name)"))
        }
        return root
    }
}
