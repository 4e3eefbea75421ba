import Foundation
import PushModel
import Testing

@Suite struct ExplainTests {
    private func explain(_ arguments: String...) async throws -> Program { try await Program.run(["explain"] + arguments) }

    @Test func `a function is explained with its keys, its result, its errors and an example`() async throws {
        let page = try await explain("push.send")
        #expect(page.status == 0)
        #expect(page.errors == "")
        for part in [
            "push.send{ [to]=", "collapse_id", "a tag expression or push.everyone", "RETURNS:\n  push.Outcome",
            "hub.no_target           No registration matches", "EXAMPLE:\n  local outcome = push.send {",
        ] {
            #expect(page.output.contains(part), "\(part)")
        }
        #expect(try await explain("PUSH.SEND").output == page.output)
        let longest = page.output.split(separator: "\n").map(\.count).max() ?? 0
        #expect(longest <= 100)
    }

    @Test func `a code is explained with its cause, its fix, its exit code and a wrong and a right example`() async throws {
        let page = try await explain("args.unknown_key")
        #expect(page.status == 0)
        for part in [
            "WHEN:", "WHAT TO DO:", "INSTEAD OF:\n  push.send { tags",
            "WRITE:\n  push.send { to",
        ] {
            #expect(page.output.contains(part), "\(part)")
        }
        #expect(page.output.replacing("\n  ", with: " ").contains("Uncaught, it ends the run with exit code 3."))
        #expect(try await explain("hub.no_target").output.contains("RAISED BY:\n  push.send"))
    }

    @Test func `a type is explained with its fields and methods`() async throws {
        let device = try await explain("push.Device").output
        #expect(device.contains("  time_zone  string\n             IANA name"))
        #expect(device.contains("METHODS:\n  device:inbox"))
        #expect(device.contains("COMES FROM:\n  push.device"))
        #expect(try await explain("push.State").output.contains("\"NoTargetFound\""))
    }

    @Test func `a word for several topics lists them, and no word lists all topics, one per line`() async throws {
        let list = try await explain("register")
        #expect(list.status == 0)
        #expect(list.output.split(separator: "\n").count == 3)
        let all = try await explain()
        #expect(all.status == 0)
        for name in ["\n  device:wait_for ", "\n  push.InboxItem ", "\n  template.* "] { #expect(all.output.contains(name), "\(name)") }
        #expect(!all.output.split(separator: "\n").contains { $0.hasPrefix("   ") })
    }

    @Test func `a search word lists the topics about it, with or without quotes`() async throws {
        let list = try await explain("quiet", "hours")
        #expect(list.status == 0 && list.output.contains("\n  push.clock.window_end "), "\(list.output)\(list.errors)")
        #expect(try await explain("quiet hours").output == list.output)
    }

    @Test func `an unknown name ends with 2 and near matches`() async throws {
        let text = try await explain("push.sned")
        #expect(text.status == 2)
        #expect(text.output == "")
        #expect(text.errors.contains("error[usage.value]: unknown name \"push.sned\"; did you mean push.send, "))
        let json = try await explain("push.sned", "--json")
        #expect(json.status == 2)
        #expect(try JSON(parsing: json.output)["suggestions"]?.array?.first?.string == "push.send")
        #expect(try await explain("\u{1b}[31mx").errors.contains("\\u{1b}[31mx"))
        #expect(try await explain("one", "two").status == 2)
    }

    @Test func `--json prints the same content as JSON`() async throws {
        let send = try JSON(parsing: try await explain("push.send", "--json").output)
        #expect(send["schema"]?.string == "pushhost.explain/1")
        let topic = try #require(send["topics"]?.array?.first)
        #expect(topic["kind"]?.string == "binding")
        #expect(topic["returns"]?.string == "push.Outcome")
        let to = try #require(topic["parameters"]?.array?.first)
        #expect(to["name"]?.string == "to")
        #expect(to["type"]?.string == "string|push.Everyone")
        #expect(to["required"]?.bool == false)
        let code = try JSON(parsing: try await explain("--json", "payload.invalid").output)["topics"]?.array?.first
        #expect(code?["exit_codes"]?.array?.compactMap(\.int) == [1, 3])
        #expect(code?["example"]?["language"]?.string == "lua")
        let type = try JSON(parsing: try await explain("--json", "push.Outcome").output)["topics"]?.array?.first
        #expect(type?["fields"]?.array?.contains { $0["name"]?.string == "near" } == true)
        #expect((try JSON(parsing: try await explain("--json").output)["topics"]?.array?.count ?? 0) > 150)
    }

    @Test func `an error of a run names its page, and a script's own error does not`() async throws {
        let folder = try ScriptFolder([
            "ours.lua": "require('push').send {}", "theirs.lua": "error { code = 'own.code', message = 'mine' }",
        ])
        let ours = try await Program.run(["run", "ours.lua"], in: folder.url)
        #expect(ours.errors.hasSuffix("\n") && ours.errors.contains("\n  more      pushhost explain send.no_audience "))
        #expect(ours.errors.split(separator: "\n").last?.contains("run r-0001 · script ") == true)
        let theirs = try await Program.run(["run", "theirs.lua"], in: folder.url)
        #expect(!theirs.errors.contains("more "))
        #expect(theirs.errors.contains("\n  run       r-0001"))
    }

    @Test func `a page that cannot be written fails`() async throws {
        for words in ["explain", "explain push.send", "explain --json", "reference lua"] {
            let full = try await Program.shell("$P \(words) >/dev/full")
            #expect(full.status == 1)
            #expect(full.errors.contains("error[output.failed]"))
        }
        #expect(try await Program.shell("$P explain | head -n 1 >/dev/null").status == 0)
    }

    @Test func `reference output can be printed, and the command is hidden from --help`() async throws {
        #expect(try await Program.run(["reference", "stubs"]).output.hasPrefix("---@meta push\n"))
        #expect(try await Program.run(["reference", "nothing"]).status == 2)
        let help = try await Program.run(["--help"]).output
        #expect(!help.contains("reference"))
        #expect(help.contains("explain") && help.contains("init"))
    }
}
