import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost approvals`, and the exit code of a send that needs approval.
@Suite struct ApprovalCommandTests {
    private static func install(_ number: Int, at hub: ServedHub) async throws {
        let body =
            #"{"installationId": "i\#(number)", "platform": "apns", "pushChannel": "\#(String(repeating: "0\(number)", count: 32))", "#
            + #""tags": ["sports"], "templates": {"t": {"body": "{\"aps\": {\"alert\": \"$(message)\"}}"}}}"#
        #expect(try await hub.call("PUT", "/hub/installations/i\(number)?api-version=2020-06", body: body).status == 200)
    }

    private static func result(_ program: BuiltProgram) throws -> JSON {
        let document = try JSON(parsing: program.output)
        return try #require(document["result"] ?? document["error"])
    }

    @Test func `A send above the ceiling exits with 5, a second person approves it, and the audit log records each step`() async throws {
        try await ServedHub.serving(isSimulated: true, settings: ["PUSHHOST_GUARD_CEILING": "1"]) { hub in
            for number in 1...2 { try await Self.install(number, at: hub) }
            let sent = try await hub.command(["send", "Outage", "--to", "sports", "--note", "outage notice"])
            #expect(sent.status == 5)
            #expect(
                sent.errors.contains("error[approval.required]: sending to 2 devices needs approval (limit 1)"), "\(sent.errors)")
            #expect(sent.errors.contains("pushhost approvals approve a-1"))
            let again = try await hub.command(["send", "Outage", "--to", "sports", "--note", "outage notice", "--json"])
            #expect(again.status == 5)
            #expect(try Self.result(again)["approvalId"] == "a-1")
            #expect(try await hub.command(["notification", "list"]).output == "no notifications\n")

            let own = try await hub.command(["approvals", "approve", "a-1"])
            #expect(own.status == 5 && own.errors.contains("error[approval.own]: owner requested a-1"), "\(own.errors)")
            let shown = try await hub.command(["approvals", "show", "a-1"])
            #expect(
                shown.output.contains("  devices   2: apns 2\n") && shown.output.contains("  note      outage notice\n"), "\(shown.output)")
            #expect(shown.output.contains("    message Outage\n"), "\(shown.output)")
            let none = try await hub.command(["approvals", "show", "a-7"])
            #expect(none.status == 4 && none.errors.contains("did you mean \"a-1\"?"), "\(none.errors)")

            let root = ["PUSHHOST_CONNECTION": try hub.plainConnectionString(.root)]
            func asRoot(_ arguments: [String]) async throws -> BuiltProgram { try await BuiltProgram.run(arguments, environment: root) }
            let approved = try Self.result(try await asRoot(["approvals", "approve", "a-1", "--reason", "checked", "--json"]))
            let id = try #require(approved["notificationId"]?.string)
            let second = try await asRoot(["approvals", "approve", "a-1"])
            #expect(second.status == 4 && second.errors.contains("error[approval.decided]"), "\(second.errors)")
            try await until { try await hub.command(["notification", "show", id]).output.contains("2 of 2 sent") }
            #expect(try await hub.command(["approvals", "list"]).output == "no pending requests\n")
            #expect(try await hub.command(["approvals", "list", "--decided"]).output.contains("a-1  sent "))

            let words = try Self.result(try await hub.command(["audit", "list", "--json"]))["items"]?.array?.compactMap {
                $0["details"]?["words"]?.string
            }
            #expect(
                words == [
                    "a-1 was sent as \(id)",
                    "approved by key:RootManageSharedAccessKey · 2 devices · tags sports · requested by owner · note \"outage notice\" · reason \"checked\"",
                    "owner requested a-1 and cannot approve it",
                    "2 devices · tags sports · requested by owner · note \"outage notice\" · more than the server's limit of 1",
                ], "\(words ?? [])")
        }
    }

    @Test func `A key's own ceiling applies even if the server has none`() async throws {
        try await ServedHub.serving { hub in
            for number in 1...3 { try await Self.install(number, at: hub) }
            let made = try Self.result(
                try await hub.command(["key", "create", "app", "--rights", "send", "--ceiling", "2", "--hub", "hub", "--json"]))
            #expect(made["ceiling"] == 2)
            #expect(try await hub.command(["key", "list", "--hub", "hub"]).output.contains("RIGHTS                CEILING"))
            let refused = try await hub.command(["key", "create", "ops", "--rights", "manage", "--ceiling", "2"])
            #expect(refused.status == 4 && refused.errors.contains("error[key.ceiling]"), "\(refused.errors)")
            #expect(try await hub.command(["key", "create", "ops", "--rights", "send", "--ceiling", "0"]).status == 2)
            let listed = try await hub.command(["key", "list", "--reveal", "--hub", "hub"])
            let string = try #require(listed.output.firstMatch(of: /app  Send, at most 2 devices without approval\n  primary +(\S+)/)?.1)
            let connection = "\(string.replacing(/Endpoint=[^;]*/, with: "Endpoint=http://localhost:\(hub.port)/"));EntityPath=hub"
            func asApp(_ arguments: [String]) async throws -> BuiltProgram {
                try await BuiltProgram.run(arguments, environment: ["PUSHHOST_CONNECTION": connection])
            }
            let waits = try await asApp(["send", "Goal", "--broadcast", "--yes"])
            #expect(waits.status == 5 && waits.errors.contains("(limit 2 for key:hub/app)"), "\(waits.errors)")
            #expect(try await asApp(["approvals", "approve", "a-1"]).status == 4)
            #expect(
                try await hub.command(["approvals", "deny", "a-1", "--reason", "wrong text"]).output == "✓ a-1 denied: nothing was sent\n")
            let denied = try await hub.command(["approvals", "approve", "a-1"])
            #expect(denied.status == 4 && denied.errors.contains("it was denied by owner"), "\(denied.errors)")
            #expect(try await hub.command(["send", "Goal", "--to", "sports"]).status != 5)
            let noted = try await hub.command(["audit", "list", "--action", "notification.send"])
            #expect(noted.output.contains("  owner  notification.send  "), "\(noted.output)")
            #expect(noted.output.contains("audience: tags sports · content: templates with message (4 bytes)"), "\(noted.output)")
        }
    }

    /// Makes the database look as if the server had been killed between the approval and the send.
    private static let approving = """
        import json, sqlite3, sys
        database = sqlite3.connect(sys.argv[1])
        (content,) = database.execute("SELECT content FROM approval WHERE number = 1").fetchone()
        content = json.dumps({**json.loads(content), "decision": {"by": "key:second", "at": 1}})
        database.execute("UPDATE approval SET state = 'approved', content = ? WHERE number = 1", (content,))
        database.commit()
        """

    @Test func `After a kill, pending requests are still pending and approved ones are sent once at the start`() async throws {
        let folder = try ScriptFolder([
            "pushhost.yaml": "data: data\nlab: on\nguard: { ceiling: 1 }\nlisten: { port: 0, tls_port: none }\nlog: { level: error }\n",
            "approve.py": Self.approving,
        ])
        var server = try Dialogue(["serve"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        func restart(_ signal: Int32) async throws {
            server.signal(signal)
            _ = await server.end(closingInput: false)
            // The script moves the log into the database, which the next start would otherwise report as a lost log.
            let change = "python3 approve.py data/pushhost.sqlite && rm data/database-open"
            if signal == SIGKILL, try await BuiltProgram.shell(change, in: folder.url).status != 0 {
                Issue.record("the database could not be changed")
            }
            server = try Dialogue(["serve"], in: folder.url)
            try await server.hear("Press Ctrl-C to stop.")
        }
        func run(_ arguments: String...) async throws -> BuiltProgram { try await BuiltProgram.run(arguments, in: folder.url) }
        for number in 1...2 {
            let body =
                #"{"installationId": "i\#(number)", "platform": "apns", "pushChannel": "\#(String(repeating: "0\(number)", count: 32))", "#
                + #""templates": {"t": {"body": "{\"aps\": {\"alert\": \"$(message)\"}}"}}}"#
            let put =
                "curl -sf --unix-socket data/pushhost.sock -X PUT -d '\(body)' 'http://localhost/hub/installations/i\(number)?api-version=2020-06'"
            #expect(try await BuiltProgram.shell(put, in: folder.url).status == 0)
        }
        #expect(try await run("send", "Goal", "--broadcast", "--yes").status == 5)
        try await restart(SIGTERM)
        #expect(try await run("approvals", "list").output.contains("a-1  pending"))
        #expect(try await run("send", "Goal", "--broadcast", "--yes", "--json").output.contains(#""approvalId": "a-1""#))
        try await restart(SIGKILL)
        let shown = try Self.result(try await run("approvals", "show", "a-1", "--json"))
        #expect(shown["state"] == "sent" && shown["decidedBy"] == "key:second" && shown["message"] == nil)
        try await restart(SIGTERM)
        let notifications = try Self.result(try await run("notification", "list", "--json"))["items"]?.array ?? []
        #expect(notifications.count == 1 && notifications[0]["notificationId"] == shown["notificationId"])
        #expect(try await run("audit", "verify").status == 0)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }
}
