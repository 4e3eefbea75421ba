import Foundation
import HostSupport
import PushModel
import Support
import Testing

@Suite struct CheckTests {
    private static let good = "local push = require 'push'\npush.sleep '1s'\n"
    private static let bad = "local push = require 'push'\npush.sned {}\nphones = {}\n"

    @Test func `findings are printed with their line and a caret, and the last line has their number`() async throws {
        let folder = try ScriptFolder(["a.lua": Self.bad, "b.lua": Self.good, "c.lua": "phones = {}"])
        let run = try await BuiltProgram.run(["check"], in: folder.url)
        #expect(run.status == 3)
        #expect(run.errors == "")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(
            Array(lines.prefix(4)) == [
                "error[script.unknown_name]: push has no \"sned\"; did you mean \"send\"?", "  a.lua:2:6", "   2 | push.sned {}",
                "     |      ^",
            ])
        #expect(lines.contains("warning[check.global]: \"phones\" is not declared: this makes a global"))
        #expect(lines.last == "FAIL  2 of 3 files · 1 error · 2 warnings")
        #expect(!run.output.contains("\u{1b}"))
    }

    @Test(
        arguments: [
            (["b.lua"], 0, "OK  1 file · no findings"), (["w.lua"], 0, "OK  1 file · 1 warning"),
            (["a.lua"], 3, "FAIL  1 of 1 file · 1 error · 1 warning"),
            (["b.lua", "inner"], 0, "OK  2 files · no findings"), (["inner/deep"], 0, "OK  1 file · no findings"),
            (["b.lua", "b.lua", "."], 3, "FAIL  2 of 4 files · 1 error · 2 warnings"),
        ] as [([String], Int32, String)])
    func `the exit code is 3 for errors, and 0 without them`(arguments: [String], status: Int32, last: String) async throws {
        let folder = try ScriptFolder(["a.lua": Self.bad, "b.lua": Self.good, "w.lua": "phones = {}", "notes.txt": "push.sned"])
        for path in ["inner/deep", ".build/x", ".hidden"] {
            try FileManager.default.createDirectory(at: folder.url.appending(path: path), withIntermediateDirectories: true)
        }
        try folder.write("inner/deep/ok.lua", Data(Self.good.utf8))
        for path in [".build/x/bad.lua", ".hidden/bad.lua", ".bad.lua"] { try folder.write(path, Data(Self.bad.utf8)) }
        try folder.write("inner/push.lua", Data("---@meta push\nlocal push = {} push = = 1".utf8))
        let run = try await BuiltProgram.run(["check"] + arguments, in: folder.url)
        #expect(run.status == status)
        #expect(run.output.split(separator: "\n").last.map(String.init) == last)
    }

    @Test(
        arguments: [
            (["nowhere.lua"], "script.not_found", "nowhere.lua does not exist"),
            (["b.lua", "nowhere"], "script.not_found", "nowhere does not exist"),
            (["empty"], "check.no_scripts", "no *.lua file below empty"),
        ])
    func `a path with nothing to check ends with 2 before any check`(arguments: [String], code: String, part: String)
        async throws
    {
        let folder = try ScriptFolder(["b.lua": Self.bad])
        try FileManager.default.createDirectory(at: folder.url.appending(path: "empty"), withIntermediateDirectories: true)
        let run = try await BuiltProgram.run(["check"] + arguments, in: folder.url)
        #expect(run.status == 2)
        #expect(run.output == "")
        #expect(run.errors.contains("error[\(code)]: \(part)"))
        let json = try await BuiltProgram.run(["check", "--json"] + arguments, in: folder.url)
        #expect(json.status == 2)
        let document = try JSON(parsing: json.output)
        #expect(document["error"]?["code"]?.string == code)
        #expect(document["exit_code"]?.int == 2)
    }

    @Test func `an invalid script file is a finding with its reason, and the others are checked`() async throws {
        let folder = try ScriptFolder(["good.lua": Self.good])
        try folder.write("latin.lua", Data("local x = 1\n-- caf".utf8) + [0xe9, 0x0a])
        try folder.write("binary.lua", Data([0x1b, 0x4c, 0x75, 0x61, 0x54, 0x00, 0x19, 0x93]))
        let run = try await BuiltProgram.shell("truncate -s 5M huge.lua && $P check", in: folder.url)
        #expect(run.status == 3)
        for part in ["latin.lua is not UTF-8: line 2", "binary.lua is not UTF-8", "huge.lua has more than 4 MiB"] {
            #expect(run.output.contains(part), "\(part)")
        }
        #expect(run.output.split(separator: "\n").last == "FAIL  3 of 4 files · 3 errors")
        let json = try JSON(parsing: try await BuiltProgram.run(["check", "--json"], in: folder.url).output)
        #expect(json["findings"]?.array?.map { $0["code"]?.string } == ["script.encoding", "script.too_large", "script.encoding"])
        #expect(json["findings"]?.array?.first?["line"]?.isNull == true)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.url.appending(path: "good.lua").path)
        if getuid() != 0 { #expect(try await BuiltProgram.run(["check", "good.lua"], in: folder.url).status == 2) }
    }

    @Test func `--json prints one object with the files and every finding with its location`() async throws {
        let folder = try ScriptFolder(["a.lua": Self.bad, "b.lua": Self.good])
        let run = try await BuiltProgram.run(["check", "--json", "a.lua", "b.lua"], in: folder.url)
        #expect(run.status == 3)
        let document = try JSON(parsing: run.output)
        #expect(document["schema"]?.string == "pushhost.check/1")
        #expect(document["verdict"]?.string == "fail")
        #expect(document["files"]?.array?.map(\.string) == ["a.lua", "b.lua"])
        #expect(document["errors"]?.int == 1 && document["warnings"]?.int == 1)
        let finding = try #require(document["findings"]?.array?.first)
        #expect(
            finding["file"]?.string == "a.lua" && finding["code"]?.string == "script.unknown_name" && finding["severity"]?.string == "error"
        )
        #expect([finding["line"]?.int, finding["column"]?.int, finding["end_line"]?.int, finding["end_column"]?.int] == [2, 6, 2, 10])
        #expect(finding["message"]?.string?.contains("sned") == true && finding["hint"]?.string?.contains("account") == true)
        #expect(document["findings"]?.array?.last?["severity"]?.string == "warning")
    }

    private static let phones = "local push = require 'push'\nlocal phone = push.device { name = 'a' }\nphone:offline()\n"

    @Test func `for a target, a check reports what the target would reject or does not support`() async throws {
        let many = (1...7).map { "t\($0)" }.joined(separator: " && ")
        let sending = "local push = require 'push'\npush.send { to = '\(many)', alert = 'x' }\n"
        let folder = try ScriptFolder(["a.lua": Self.phones, "b.lua": sending])
        let azure = try await BuiltProgram.run(["check", "--target", "azure"], in: folder.url)
        #expect(azure.status == 3)
        #expect(azure.output.contains("error[target.unsupported]: device:offline needs simulated devices"))
        #expect(azure.output.contains("  a.lua:3:1\n   3 | phone:offline()\n"))
        #expect(azure.output.contains("error[azure.limits]: Azure would reject this expression: the expression has 7 tags"))
        #expect(azure.output.hasSuffix("FAIL  2 of 2 files · 2 errors\n"))
        let served = try await BuiltProgram.run(["check", "--json", "--target=pushhost"], in: folder.url)
        let document = try JSON(parsing: served.output)
        #expect(document["target"]?.string == "pushhost")
        #expect(document["findings"]?.array?.map { $0["code"]?.string } == ["target.unsupported"])
        for arguments in [[], ["--target", "embedded"]] {
            #expect(try await BuiltProgram.run(["check"] + arguments, in: folder.url).output == "OK  2 files · no findings\n")
        }
    }

    @Test func `an unknown target is rejected without repeating a key`() async throws {
        let folder = try ScriptFolder(["b.lua": Self.good])
        let run = try await BuiltProgram.run(["check", "--target", "azur"], in: folder.url)
        #expect(run.status == 2 && run.output == "")
        #expect(run.errors.contains("error[usage.option]: unknown kind of target \"azur\"; did you mean \"azure\"?"))
        let text = "Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey=c2VjcmV0LXNlY3JldA=="
        let key = try await BuiltProgram.run(["check", "--json", "--target", text], in: folder.url)
        #expect(key.status == 2 && !(key.output + key.errors).contains("c2VjcmV0"))
        #expect(try JSON(parsing: key.output)["error"]?["code"]?.string == "usage.option")
    }

    @Test func `the bundled flows have no findings for any target`() async throws {
        for target in ["embedded", "pushhost", "azure"] {
            let run = try await BuiltProgram.run(["check", "--target", target, "scripts"], in: BuiltProgram.root)
            #expect(run.status == 0 && run.output.hasSuffix("files · no findings\n"), "\(run.output)")
        }
    }

    @Test func `a secret appears nowhere in the output, even when its line is quoted for another finding`() async throws {
        let key = "AI" + "zaSyA1234567890abcdefghijklmnopqrstuv"
        let folder = try ScriptFolder([
            "a.lua": """
            local push = require "push"
            push.login { username = 5, password = "hunter2", usernam = "x" }
            local key = "\(key)" push.sned {} -- \(key)
            local pem = [[
            -----BEGIN PRIVATE\(" ")KEY-----
            MIGHAgEA]]
            """
        ])
        for options in [[], ["--json"]] {
            let run = try await BuiltProgram.run(["check", "a.lua"] + options, in: folder.url)
            #expect(run.status == 3)
            for secret in ["hunter2", "AI" + "zaSy", "MIGHAgEA"] { #expect(!run.output.contains(secret), "\(secret) \(run.output)") }
        }
        let text = try await BuiltProgram.run(["check", "a.lua"], in: folder.url).output
        let shown = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(shown.contains("   2 | push.login { username = 5, password = ***, usernam = \"x\" }"))
        // The caret is under the name, even though masking has moved it.
        let index = try #require(shown.firstIndex { $0.contains("push has no \"sned\"") })
        let line = try #require(shown[index + 2].firstRange(of: "sned"))
        let caret = try #require(shown[index + 3].firstIndex(of: "^"))
        #expect(
            shown[index + 2].distance(from: shown[index + 2].startIndex, to: line.lowerBound)
                == shown[index + 3].distance(from: shown[index + 3].startIndex, to: caret))
    }

    @Test func `a run and a check report the same syntax error`() async throws {
        let folder = try ScriptFolder(["a.lua": "local push = require 'push'\npush.send {\n  to = 'alice'\n  alert = 'x',\n}\n"])
        let check = try await BuiltProgram.run(["check", "a.lua"], in: folder.url)
        let run = try await BuiltProgram.run(["run", "a.lua"], in: folder.url)
        #expect(run.status == 3)
        let first = check.output.split(separator: "\n").prefix(5)
        #expect(first.first == "error[script.syntax]: a comma is missing between two fields of the table")
        #expect(first.dropFirst().first == "  a.lua:3:15")
        #expect(Array(run.errors.split(separator: "\n").prefix(5)) == Array(first))
        let json = try JSON(parsing: try await BuiltProgram.run(["run", "--json", "a.lua"], in: folder.url).output)
        #expect(json["error"]?["where"]?.string == "a.lua:3")
        #expect(json["error"]?["message"]?.string?.contains("comma") == true)
        #expect(try await BuiltProgram.run(["run", "a.lua", "--help"], in: folder.url).errors.contains("a.lua:3:15"))
    }

    @Test func `output that cannot be written is an error`() async throws {
        let run = try await BuiltProgram.shell("$P check scripts >/dev/full")
        #expect(run.status == 1)
        #expect(run.errors.contains("standard output could not be written"))
    }
}
