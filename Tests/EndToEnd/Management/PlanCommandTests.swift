import Foundation
import HostSupport
import PushModel
import Testing

/// `pushhost plan` and `pushhost send --plan` with a server.
@Suite struct PlanCommandTests {
    private static func install(_ hub: ServedHub, _ id: String, _ number: Int, user: String = "ana", tags: [String] = ["sports"])
        async throws
    {
        let handle = String(repeating: "0", count: 62) + String(number, radix: 16).leftPadded
        let template = #"{"body": "{\"aps\": {\"alert\": \"$(message)\"}}"}"#
        let answer = try await hub.call(
            "PUT", "/hub/installations/\(id)?api-version=2020-06",
            body: """
                {"installationId": "\(id)", "userId": "\(user)", "platform": "apns", "pushChannel": "\(handle)",
                 "tags": \(tags), "pushVariables": {"locale": "pt-BR"}, "templates": {"news": \(template)}}
                """)
        try #require(answer.status == 200)
    }

    private static func json(_ program: BuiltProgram) throws -> JSON { try #require(try JSON(parsing: program.output)["result"]) }

    @Test func `A plan can be created, shown, compared and sent to`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            for number in 1...3 { try await Self.install(hub, "pad-\(number)", number) }
            let plan = try await hub.command(["plan", "Goal", "--to", "sports", "--all"])
            #expect(plan.status == 0, "\(plan.errors)")
            for words in [
                "plan p-0001  to sports", "3 devices would get it", "APNs", "3", "locales   pt-BR 3", "26 of 4096 bytes", "pad-2", "ana",
                "send to exactly these with pushhost send --plan p-0001",
            ] { #expect(plan.output.contains(words), "\(words)\n\(plan.output)") }
            #expect(try await Self.json(hub.command(["notification", "list", "--json"]))["items"] == [])

            let document = try await Self.json(hub.command(["plan", "--to", "sports && vip", "--json", "--all"]))
            #expect(document["total"] == 0 && document["devices"] == [])
            #expect(document["failedTerms"]?.array?.first?["term"] == "vip")
            let audience = try await hub.command(["plan", "--to", "sports"])
            #expect(audience.output.contains("\n  6 registrations match\n"), "\(audience.output)")
            #expect(!audience.output.contains("device"), "\(audience.output)")
            let nobody = try await hub.command(["plan", "Goal", "--to", "sprots", "--fail-on-no-target"])
            #expect(nobody.status == 6 && nobody.output.contains("\"sports\" has 6 registrations"), "\(nobody.output)")

            try await Self.install(hub, "pad-4", 4)
            let second = try await hub.command(["plan", "Goal", "--to", "sports"])
            #expect(second.output.contains("changes   1 added · 0 removed  from p-0001"), "\(second.output)")
            #expect(second.output.contains("+ pad-4 of ana"), "\(second.output)")

            let drifted = try await hub.command(["send", "--plan", "p-0001"])
            #expect(drifted.status == 4 && drifted.errors.contains("error[plan.drifted]"), "\(drifted.errors)")
            #expect(drifted.errors.contains("1 joined (pad-4), 0 left"), "\(drifted.errors)")
            let sent = try await hub.command(["send", "--plan", "p-0001", "--tolerance", "50%"])
            #expect(sent.status == 0 && sent.output.contains("3 of 3 sent"), "\(sent.output)\(sent.errors)")

            let list = try await hub.command(["plan", "list"])
            #expect(list.output.contains("PLAN") && list.output.contains("p-0001"), "\(list.output)")
            let shown = try await hub.command(["plan", "show", "p-0001", "--all"])
            #expect(shown.output.contains("plan p-0001  to sports") && shown.output.contains("pad-1"), "\(shown.output)")
        }
    }

    @Test func `An invalid plan command is rejected with what to do`() async throws {
        try await ServedHub.serving { hub in
            try await Self.install(hub, "pad-1", 1)
            #expect(try await hub.command(["plan", "Goal", "--to", "sports"]).status == 0)
            for (arguments, status, words) in [
                (["plan", "Goal"], 2, "no recipients"), (["plan", "--to", " "], 2, "--to is empty"),
                (["plan", "--to", "a", "--broadcast"], 2, "cannot be combined"), (["plan", "--to", "a &&"], 4, "tag_expression.invalid"),
                (["send", "--plan", "p-0007"], 4, "did you mean \"p-0001\"?"),
                (["send", "--plan", "p-0001", "--to", "a"], 2, "--plan cannot be combined with --to"),
                (["send", "Other", "--plan", "p-0001"], 4, "plan.content"),
                (["send", "Goal", "--to", "a", "--tolerance", "2"], 2, "needs --plan"),
                (["send", "--plan", "p-0001", "--tolerance", "x"], 2, "invalid tolerance"),
                (["plan", "show", "nothing"], 4, "plan.not_found"),
            ] as [([String], Int32, String)] {
                let program = try await hub.command(arguments)
                #expect(program.status == status && program.errors.contains(words), "\(arguments)\n\(program.errors)\(program.output)")
            }
            let json = try await hub.command(["plan", "--json"])
            #expect(json.status == 2)
            #expect(try JSON(parsing: json.output)["error"] != nil)
        }
    }
}

extension String {
    fileprivate var leftPadded: String { count == 1 ? "0\(self)" : self }
}
