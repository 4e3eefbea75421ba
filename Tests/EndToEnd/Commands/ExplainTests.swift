import Foundation
import HostSupport
import PushModel
import Support
import Testing

@testable import Bindings
@testable import PushHost

@Suite struct ExplainTests {
    private func explain(_ arguments: String...) async throws -> BuiltProgram { try await BuiltProgram.run(["explain"] + arguments) }

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
            "WHEN:", "WHAT TO DO:", "EFFECT:", "INSTEAD OF:\n  push.send { tags",
            "WRITE:\n  push.send { to",
        ] {
            #expect(page.output.contains(part), "\(part)")
        }
        #expect(page.output.replacing("\n  ", with: " ").contains("uncaught, exit code 3."))
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

    @Test(
        arguments: [
            ("too many requests", "hub.throttled"), ("429", "hub.throttled"), ("quota", "FCM QUOTA_EXCEEDED"),
            ("certificate expired", "credential.invalid"), ("ssl", "tls.unusable"), ("disk full", "storage.unavailable"),
            ("no space left on device", "backup.failed"), ("out of memory", "budget.memory"), ("device not registered", "hub.gone"),
            ("device not registered", "not_registered"), ("unauthorized", "sas.signature"), ("401", "auth.failed"),
            ("forbidden", "sas.forbidden"), ("permission denied", "capability.denied"), ("connection refused", "control.unreachable"),
            ("cannot connect to server", "control.unreachable"), ("invalid token", "APNs BadDeviceToken"),
            ("invalid token", "handle.invalid"),
            ("BadDeviceToken", "APNs BadDeviceToken"), ("UNREGISTERED", "FCM UNREGISTERED"), ("PayloadTooLarge", "WNS PayloadTooLarge"),
            ("payload too large", "payload.too_large"), ("invalid json", "json.invalid"), ("timeout", "budget.wall"),
            ("timeout", "limits.body"), ("wrong environment", "other_environment"), ("duplicate notifications", "hub.idempotency_key"),
            ("user not found", "auth.unknown_user"), ("tag expression", "tag_expression.too_long"), ("key rotation", "key.exists"),
            ("backup", "storage.backup_exists"), ("limits", "limits.requests_per_minute"), ("sandbox", "sandbox.absent"),
            ("port already in use", "serve.port"), ("token expired", "sas.expired"), ("service unavailable", "WNS ServiceUnavailable"),
            ("silent push", "background"), ("phone offline", "phone_offline"), ("login failed", "auth.throttled"),
            ("VAPID", "webpush.key"), ("circuit_open", "circuit_open"), ("listen.port", "listen.port"), ("reload", "SIGHUP"),
            ("dry-run", "send --dry-run"), ("dry run", "send --dry-run"), ("quiet hours", "plugin quiet-hours"),
            ("quiet-hours", "plugin quiet-hours"), ("rate limit", "push.send"), ("logging", "log.level"), ("metric", "GET /metrics"),
            ("concurrency", "limits.concurrent_flows"), ("migration", "server upgrade"), ("backoff", "delivery.retry_window"),
        ])
    func `what people search for is among at most ten topics`(words: String, expected: String) {
        let names = ReferenceIndex(.standard, notes: ProgramNotes.all).topics(for: words).map(\.name)
        #expect((1...ReferenceSearch.limit).contains(names.count) && names.contains(expected), "\(names)")
    }

    @Test func `search words list the settings and guides that decide about them first`() {
        let index = ReferenceIndex(.standard, notes: ProgramNotes.all)
        for (word, notes) in SearchWords.notes {
            #expect(index.topics(for: word).map(\.name).starts(with: notes), "\(word)")
        }
        for word in ["metrics", "upgrade", "migrations"] { #expect(index.topics(for: word).first?.kind == "guide", "\(word)") }
    }

    @Test(
        arguments: [
            "SIGHUP", "send --dry-run", "plugin quiet-hours", "GET /metrics", "retry backoff", "server upgrade", "approval", "audit",
        ])
    func `operations have pages that name a page of the documentation`(name: String) async throws {
        let page = try await explain(name).output
        #expect(page.hasPrefix("\(name)\n\n") && page.contains("GUIDE:\n  docs/"), "\(page)")
        let guide = page.components(separatedBy: "GUIDE:\n  ").last?.split { $0 == "#" || $0.isNewline }.first.map(String.init) ?? ""
        #expect(FileManager.default.fileExists(atPath: BuiltProgram.root.appending(path: guide).path), "\(guide)")
    }

    @Test func `settings, reasons of push services and causes of traces have pages`() async throws {
        let reason = try await explain("BadDeviceToken")
        #expect(reason.status == 0)
        #expect(reason.output.hasPrefix("APNs BadDeviceToken\n\nthe device token is malformed"), "\(reason.output)")
        #expect(reason.output.contains("WHAT TO DO:\n  check production against development"))
        #expect(try await explain("listen.port").output.contains("DEFAULT:\n  8080"))
        #expect(try await explain("circuit_open").output.contains("pushhost trace"))
        #expect(try await explain("throttle").output.contains("The push service throttled the notification repeatedly"))
        #expect(try await explain("cancelled").output.contains("\n\ntrace cause cancelled\n\n"))
        let json = try JSON(parsing: try await explain("--json", "listen.port").output)["topics"]?.array?.first
        #expect(json?["kind"]?.string == "setting" && json?["parts"]?.array?.first?["title"]?.string == "Value")
        let list = try await explain("too", "many", "requests").output.split(separator: "\n")
        #expect(list.count == 11 && list.contains { $0.hasPrefix("  APNs TooManyRequests ") && $0.hasSuffix("(APNs, status 429)") })
    }

    @Test func `a summary in a list is cut at the end of its first clause, not in brackets`() async throws {
        #expect(try await explain().output.contains("(JSON Patch: add, remove, replace)\n"))
    }

    @Test func `an unknown name ends with 2 and near matches`() async throws {
        let text = try await explain("push.sned")
        #expect(text.status == 2)
        #expect(text.output == "")
        #expect(text.errors.contains("error[usage.value]: unknown name \"push.sned\"; did you mean push.send, "))
        #expect(text.errors.contains("help      try one word") && !text.errors.contains("more "))
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
        let ours = try await BuiltProgram.run(["run", "ours.lua"], in: folder.url)
        #expect(ours.errors.hasSuffix("\n") && ours.errors.contains("\n  more      pushhost explain send.no_audience "))
        #expect(ours.errors.split(separator: "\n").last?.contains("run r-0001 · script ") == true)
        let theirs = try await BuiltProgram.run(["run", "theirs.lua"], in: folder.url)
        #expect(!theirs.errors.contains("more "))
        #expect(theirs.errors.contains("\n  run       r-0001"))
    }

    @Test func `a page that cannot be written fails`() async throws {
        for words in ["explain", "explain push.send", "explain --json", "reference lua"] {
            let full = try await BuiltProgram.shell("$P \(words) >/dev/full")
            #expect(full.status == 1)
            #expect(full.errors.contains("error[output.failed]"))
        }
        #expect(try await BuiltProgram.shell("$P explain | head -n 1 >/dev/null").status == 0)
    }

    @Test func `reference output can be printed, and --help lists the command`() async throws {
        #expect(try await BuiltProgram.run(["reference", "stubs"]).output.hasPrefix("---@meta push\n"))
        #expect(try await BuiltProgram.run(["reference", "nothing"]).status == 2)
        let help = try await BuiltProgram.run(["--help"]).output
        #expect(["explain", "init", "reference"].allSatisfy { help.contains("\n  \($0) ") }, "\(help)")
    }
}
