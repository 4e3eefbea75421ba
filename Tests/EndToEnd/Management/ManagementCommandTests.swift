import Foundation
import HostSupport
import HubWire
import PushModel
import PushRuntime
import Support
import Testing

@testable import PushServer

/// The commands that manage a running server.
@Suite struct ManagementCommandTests {
    private static func install(
        _ id: String, _ tag: String, _ handle: String, at hub: ServedHub, template: Bool = true, platform: String = "apns"
    ) async throws {
        let templates = template ? #", "templates": {"t": {"body": "{\"aps\": {\"alert\": \"$(message)\"}}"}}"# : ""
        let body =
            #"{"installationId": "\#(id)", "platform": "\#(platform)", "userId": "ana", "pushChannel": "\#(handle)", "#
            + #""tags": ["\#(tag)"]\#(templates)}"#
        let answer = try await hub.call("PUT", "/hub/installations/\(id)?api-version=2020-06", body: body)
        #expect(answer.status == 200, "\(answer.body)")
    }

    private static func handle(_ digit: Int) -> String { String(repeating: "0123456789abcde\(digit)", count: 4) }

    private static func result(_ program: BuiltProgram) throws -> JSON {
        let document = try JSON(parsing: program.output)
        #expect(document["schema"]?.string == "pushhost.manage/1")
        #expect(document["exit_code"]?.int == Int(program.status))
        return try #require(document["result"] ?? document["error"])
    }

    @Test func `The exit code of a send distinguishes all, some and no devices reached, and show commands exit with 0`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let control = try #require(hub.simulatorPort)
            func refuse(_ count: Int) async throws {
                _ = try await BuiltProgram.shell(
                    #"curl -s http://127.0.0.1:\#(control)/faults/apns -d '{"reason": "BadDeviceToken", "count": \#(count)}'"#)
            }
            for number in 1...2 { try await Self.install("pad-\(number)", "sports", Self.handle(number), at: hub) }
            #expect(try await hub.command(["send", "Goal", "--to", "sports"]).status == 0)
            try await refuse(1)
            let some = try await hub.command(["send", "Goal", "--to", "sports", "--json"])
            #expect(some.status == 7, "\(some.output)\(some.errors)")
            let id = try #require(try Self.result(some)["items"]?.array?.first?["notificationId"]?.string)
            try await refuse(2)
            let none = try await hub.command(["send", "Goal", "--to", "sports"])
            #expect(none.status == 1 && none.output.contains("0 of 2 sent · 2 failed"), "\(none.output)")
            let shown = try await hub.command(["notification", "show", id])
            #expect(shown.status == 0 && shown.output.contains("✗"), "\(shown.output)")
            #expect(try await hub.command(["trace", id]).status == 0)
            #expect(try await hub.command(["notification", "show", String(id.prefix(12))]).output == shown.output)
            #expect(try await hub.command(["notification", "show"]).output.contains("0 of 2 sent · 2 failed"))
            let help = try await hub.command(["send", "--help"]).output.replacing(/\s+/, with: " ")
            #expect(help.contains("7 some devices reached, and others failed"), "\(help)")
        }
    }

    @Test func `A send to several platforms is partial if one of them fails`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            try await Self.install("good", "mixed", Self.handle(1), at: hub, template: false)
            try await Self.install("bad", "mixed", "no-token-of-fcm", at: hub, template: false, platform: "fcmv1")
            let (apns, fcm) = (hub.data.appending(path: "apns.json"), hub.data.appending(path: "fcm.json"))
            try Data(#"{"aps": {"alert": "Goal"}}"#.utf8).write(to: apns)
            try Data(#"{"message": {"notification": {"body": "Goal"}}}"#.utf8).write(to: fcm)
            let control = try #require(hub.simulatorPort)
            _ = try await BuiltProgram.shell(
                #"curl -s http://127.0.0.1:\#(control)/faults/fcm -d '{"reason": "SENDER_ID_MISMATCH", "count": 1}'"#
            )
            let sent = try await hub.command(["send", "--native", "apns", apns.path, "fcm", fcm.path, "--to", "mixed"])
            #expect(sent.status == 7, "\(sent.output)\(sent.errors)")
        }
    }

    @Test func `A send reports who got it, who did not and why, and near matches for unknown tags`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            try await Self.install("good", "sports", Self.handle(1), at: hub)
            try await Self.install("plain", "sports", Self.handle(2), at: hub, template: false)
            try await Self.install("bad", "wrong", "no-channel-of-wns", at: hub, template: false, platform: "fcmv1")
            let sent = try await hub.command(["send", "Goal", "--to", "sports"])
            #expect(sent.status == 0)
            #expect(sent.output.contains("to sports  1 of 1 sent · 0 failed\n  APNs      1 sent\n"), "\(sent.output)\(sent.errors)")

            let preview = try Self.result(try await hub.command(["send", "Goal", "--to", "sports", "--dry-run", "--json"]))
            let group = try #require(preview["items"]?.array?.first?["groups"]?.array?.first)
            #expect(group["payload"]?.text().contains("Goal") == true)
            let count = try await hub.call("GET", "/api/v1/hubs/hub/notifications", by: .root)
            #expect(try JSON(parsing: count.body)["items"]?.array?.count == 1)

            let near = try await hub.command(["send", "Goal", "--to", "sport", "--fail-on-no-target"])
            #expect(near.status == 6)
            #expect(near.output.contains("similar   \"sports\" has"), "\(near.output)")

            let file = hub.data.appending(path: "payload.json")
            try Data(#"{"message": {"notification": {"body": "Goal"}}}"#.utf8).write(to: file)
            let failed = try await hub.command(["send", "--native", "fcm", file.path, "--to", "wrong"])
            #expect(failed.status == 1)
            #expect(failed.output.contains("0 of 1 sent · 1 failed"), "\(failed.output)")
            #expect(failed.output.contains("BadChannel"))
            #expect(!failed.output.contains("no-channel-of-wns"))

            let later = try Self.result(try await hub.command(["send", "Goal", "--to", "sports", "--at", "1h", "--json"]))
            #expect(later["items"]?.array?.first?["state"]?.string == "Scheduled")
            let id = try #require(later["items"]?.array?.first?["notificationId"]?.string)
            let waiting = try Self.result(try await hub.command(["notification", "list", "--scheduled", "--json"]))
            #expect(waiting["items"]?.array?.compactMap { $0["notificationId"]?.string } == [id])
            #expect(try await hub.command(["notification", "cancel", id]).output == "✓ notification \(id) cancelled\n")
            let again = try await hub.command(["notification", "cancel", id])
            #expect(again.status == 4 && again.errors.contains("error[notification.not_found]"), "\(again.errors)")
            #expect(try await hub.command(["notification", "list", "--scheduled"]).output == "no notifications\n")
            #expect(try await hub.command(["notification", "show", id]).output.contains("cancelled"))
            let all = try await hub.command(["notification", "list", "--top", "2"])
            #expect(all.output.contains("Canceled") && all.output.contains("more items exist"), "\(all.output)")
            let test = try await hub.command(["send", "Goal", "--to", "sports", "--test", "--message", "a=b"])
            #expect(test.output.contains("1 of 1 sent"), "\(test.output)\(test.errors)")
            let everybody = try await hub.command(["send", "Goal", "--broadcast", "--yes"])
            #expect(everybody.output.contains("to everyone  1 of 1 sent"), "\(everybody.output)\(everybody.errors)")

            let devices = try Self.result(try await hub.command(["devices", "--user", "ana", "--outcome", "Success", "--json"]))
            #expect(devices["items"]?.array?.compactMap { $0["installationId"]?.string } == ["good"])
            let add = ["devices", "add", "--platform", "apns", "--token", Self.handle(7), "--tag", "added"]
            let added = try Self.result(try await hub.command(add + ["--json"]))
            #expect(added["isReplaced"] == false && added["installationId"]?.string?.hasPrefix("d-") == true)
            let twice = try await hub.command(add)
            #expect(twice.status == 2 && twice.errors.contains("--replace"), "\(twice.errors)")
            #expect(try await hub.command(add + ["--replace"]).status == 0)
            #expect(try await hub.command(["send", "Hi", "--to", "added"]).output.contains("1 of 1 sent"))
            let some = try await hub.command(["devices", "list", "--top", "1"])
            #expect(some.output.contains("more items exist: show them with --all"))
            #expect(!some.output.contains(Self.handle(1)))
        }
    }

    @Test(
        arguments: [
            (["send", "Goal"], "use --to TAGS, --broadcast"), (["send", "Goal", "--to", " "], "--to is empty"),
            (["send", "Goal", "--to", "a", "--broadcast"], "cannot be combined"), (["send", "--to", "a"], "no content"),
            (["send", "Goal", "--to", "a", "--at", "soon"], "--at: invalid time \"soon\""),
            (["send", "Goal", "--to", "a", "--at", "1h", "--test"], "cannot be combined"),
            (["send", "--to", "a", "--native", "apns"], "--native: expected a platform and a file"),
            (["send", "--to", "a", "--native", "apnz", "f"], "unknown platform \"apnz\""),
            (["send", "--to", "a", "--native", "apns", "none.json"], "none.json does not exist"),
            (["send", "--to", "a", "--message", "x"], "--message name=value"),
            (["send", "--to", "a", "--message", "x=1", "--message", "x=2"], "the property x is given twice"),
            (["send", "Goal", "--to", "a", "--message", "message=x"], "TEXT is that property"),
            (
                ["hub", "list", "--connection", "Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey=b", "--authority", "/none.pem"],
                "/none.pem cannot be read: No such file"
            ), (["devices", "--top", "0"], "expected a whole number from 1"),
            (
                ["hub", "list", "--connection", "Endpoint=sb://x/;SharedAccessKeyName=a;SharedAccessKey=b", "--data", "d"],
                "remove one of them"
            ),
            (["key", "create", "k", "--rights", "own"], "unknown right \"own\""), (["key", "rotate", "k"], "--primary"),
            (["hub", "list", "--connection", "Endpoint=x;SharedAccessKey=verysecret"], "invalid connection string"),
            (["hub", "list", "--connection", "Endpoint=sb://x/;SharedAccessKey=verysecret;a"], "invalid connection string"),
        ])
    func `An invalid command line is rejected before any connection`(arguments: [String], expected: String) async throws {
        let program = try await BuiltProgram.run(arguments)
        #expect(program.status == 2)
        #expect(program.errors.contains(expected), "\(program.errors)")
        #expect(!program.errors.contains("verysecret"))
        let json = try await BuiltProgram.run(arguments + ["--json"])
        #expect(json.status == 2)
        #expect(try JSON(parsing: json.output)["schema"]?.string == "pushhost.manage/1")
    }

    @Test func `A remote server is accessed with a key, whose rights apply`() async throws {
        try await ServedHub.serving { hub in
            let folder = try ScriptFolder()
            func run(_ arguments: [String], _ string: String) async throws -> BuiltProgram {
                try await BuiltProgram.run(arguments, in: folder.url, environment: ["PUSHHOST_CONNECTION": string])
            }
            let root = try hub.connectionString(.root)
            let untrusted = try await run(["hub", "list"], root)
            #expect(untrusted.status == 4)
            #expect(untrusted.errors.contains("its certificate is not trusted"), "\(untrusted.errors)")
            let trusted = try await run(["hub", "list", "--authority", hub.authority], root)
            #expect(trusted.status == 0 && trusted.output.contains("\nhub "), "\(trusted.errors)")
            let plain = try await run(["key", "list", "--json"], try hub.plainConnectionString(.root))
            #expect(try Self.result(plain)["items"]?.array?.first?["primaryKey"] == nil)
            let listener = try await run(["devices", "--hub", "hub"], try hub.plainConnectionString(.listen))
            #expect(listener.status == 4)
            #expect(listener.errors.contains("error[sas.forbidden]"), "\(listener.errors)")
            let unnamed = try await run(["devices"], try hub.plainConnectionString(.full))
            #expect(unnamed.status == 4 && unnamed.errors.contains("pass --hub NAME"), "\(unnamed.errors)")
            let absent = try await run(["send", "Goal", "--to", "a", "--hub", "nope"], try hub.plainConnectionString(.root))
            #expect(absent.status == 4 && absent.errors.contains("error[hub.not_found]"), "\(absent.errors)")
            let named = try await run(["devices"], try hub.plainConnectionString(.full) + ";EntityPath=hub")
            #expect(named.output == "no devices\n", "\(named.errors)")
            let full = try hub.plainConnectionString(.full)
            let keys = try Self.result(try await run(["key", "list", "--json"], full + ";EntityPath=hub"))
            #expect(keys["items"]?.array?.compactMap { $0["name"]?.string }.contains(ServedHub.Signer.full.rawValue) == true, "\(keys)")
            let list = try await run(["hub", "list"], full)
            #expect(list.status == 4 && list.errors.contains("EntityPath=NAME"), "\(list.errors)")
            #expect(try await run(["hub", "list"], full + ";EntityPath=hub").output.contains("\nhub "))
            #expect(try await run(["hub", "show"], full + ";EntityPath=hub").output.hasPrefix("hub hub\n"))
            let wrongScheme = try await run(["hub", "list"], full.replacing("http://", with: "sb://"))
            #expect(wrongScheme.errors.contains("the port does not speak TLS"), "\(wrongScheme.errors)")
            #expect(wrongScheme.errors.contains("write http:// in Endpoint"), "\(wrongScheme.errors)")
            let misspelt = try await BuiltProgram.run(["hub", "list"], in: folder.url, environment: ["PUSHHOST_CONECTION": full])
            #expect(misspelt.status == 2 && misspelt.errors.contains("did you mean \"PUSHHOST_CONNECTION\"?"), "\(misspelt.errors)")
            let nobody = try await run(["hub", "list"], "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=a;SharedAccessKey=b")
            #expect(nobody.status == 4)
            #expect(
                nobody.errors.contains("error[control.unreachable]: 127.0.0.1:1 does not respond: connection refused"), "\(nobody.errors)")
        }
    }

    @Test func `A redirect is an error, not a success`() async throws {
        let folder = try ScriptFolder()
        // A folder, which this server redirects to its name with a slash.
        try FileManager.default.createDirectory(at: folder.url.appending(path: "api/v1/hubs"), withIntermediateDirectories: true)
        let site = try Dialogue(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"], tool: "/usr/bin/python3", in: folder.url)
        let port = try #require(try await site.hear("/)").firstMatch(of: /port (\d+)/)?.1)
        let connection = "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=a;SharedAccessKey=b"
        let listed = try await BuiltProgram.run(["hub", "list", "--connection", connection], in: folder.url)
        #expect(listed.status == 4)
        #expect(
            listed.errors.contains("error[control.answer]: the answer is a redirect, which is not followed"), "\(listed.errors)")
        site.signal(SIGKILL)
        _ = await site.end(closingInput: false)
    }

    @Test func `Keys can be created, rotated and revoked, with immediate effect`() async throws {
        try await ServedHub.serving { hub in
            let made = try Self.result(
                try await hub.command(["key", "create", "new", "--rights", "listen,manage", "--hub", "hub", "--json"]))
            func status(_ key: JSON?) async throws -> Int {
                let now = SystemClock().now
                let rule = AuthorizationRule(
                    name: "new", rights: [], primaryKey: Secret(key?.string ?? ""), secondaryKey: Secret(""), createdAt: now,
                    modifiedAt: now)
                let token = SASToken(minting: "sb://localhost/", rule: rule, expiration: now + .seconds(600)).header
                return try await hub.call(
                    "GET", "/hub/registrations?api-version=2015-01", ["Authorization": token], by: nil
                ).status
            }
            #expect(try await status(made["primaryKey"]) == 200)
            let rotated = try await hub.command(["key", "rotate", "new", "--primary", "--hub", "hub", "--json"])
            #expect(try await status(made["primaryKey"]) == 401)
            #expect(try await status(made["secondaryKey"]) == 200)
            #expect(try await status(try Self.result(rotated)["primaryKey"]) == 200)
            #expect(try await hub.command(["key", "revoke", "new", "--hub", "hub"]).status == 2)
            #expect(try await hub.command(["key", "revoke", "new", "--hub", "hub", "--yes"]).status == 0)
            #expect(try await status(made["secondaryKey"]) == 401)
            let last = try await hub.command(["key", "revoke", "RootManageSharedAccessKey", "--yes"])
            #expect(last.status == 4)
            #expect(last.errors.contains("error[key.last]"))
            let listed = try await hub.command(["key", "list", "--hub", "hub"])
            let key = try hub.key(.full).reveal()
            #expect(!listed.output.contains(key))
            #expect(try await hub.command(["key", "list", "--hub", "hub", "--reveal"]).output.contains(key))
            // A name with a slash is one path segment.
            let second = try await hub.command(["hub", "create", "team/news"])
            #expect(second.status == 0)
            #expect(second.output.contains("Endpoint=sb://localhost:\(hub.tlsPort)/;"))
            #expect(try await hub.command(["hub", "show", "team/news"]).output.hasPrefix("hub team/news\n"))
            let which = try await hub.command(["devices"])
            #expect(which.status == 2)
            #expect(which.errors.contains("the server has 2 hubs: hub, team/news"), "\(which.errors)")
        }
    }

    @Test func `On a terminal a deletion asks for confirmation`() async throws {
        try await ServedHub.serving { hub in
            for (answer, status, rest) in [("n\n", 2, "nothing was done"), ("\n", 2, "nothing was done"), ("y\n", 0, "hub hub deleted")] {
                let dialogue = try Dialogue(["hub", "delete", "hub", "--data", hub.data.path], onTerminal: true)
                try await dialogue.hear("This deletes hub \"hub\" with its keys and 0 registrations. [y/N] ")
                dialogue.say(answer)
                let end = await dialogue.end()
                #expect(end.status == Int32(status))
                #expect(end.output.contains(rest), "\(end.output)")
            }
        }
    }

    @Test func `The doctor finds faults, with and without a server`() async throws {
        try await ServedHub.serving { hub in
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: hub.data.path)
            // The server's ports come from its own command line, and it reports them to the doctor.
            let well = try await hub.command(["doctor"])
            #expect(well.status == 0, "\(well.output)")
            for part in ["server        responding", "port \(hub.tlsPort)", "certificate", "database"] {
                #expect(well.output.contains("✓ \(part)"), "\(well.output)")
            }
            let status = try await hub.command(["status"])
            #expect(status.status == 0 && status.output.hasPrefix("✓ running  version "), "\(status.output)\(status.errors)")
            let json = try Self.result(try await hub.command(["status", "--json"]))
            #expect(json["hubs"]?.array?.map { $0["name"] } == ["hub"] && json["issues"] == [] && json["pendingApprovals"] == 0)
            let key = ["PUSHHOST_CONNECTION": try hub.plainConnectionString(.full) + ";EntityPath=hub"]
            let network = try Self.result(try await BuiltProgram.run(["status", "--json"], environment: key))
            #expect(network["hubs"]?.array?.count == 1 && network["version"] == json["version"])
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hub.data.path)
            let open = try await hub.command(["doctor"], environment: ["PUSHHOST_SIMULATORS": "http://127.0.0.1:1"])
            #expect(open.status == 1)
            #expect(open.output.contains("✗ permissions") && open.output.contains("✗ simulators"), "\(open.output)")
        }
        let folder = try ScriptFolder(["pushhost.yaml": "listen: { prot: 1 }\nlog: { level: loud }\n"])
        let faults = try Self.result(try await BuiltProgram.run(["doctor", "--json"], in: folder.url))
        #expect(faults["checks"]?.array?.compactMap { $0["ok"]?.bool } == [false, false])
        let data = folder.url.appending(path: "data")
        try FileManager.default.createDirectory(at: data.appending(path: "tls"), withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: data.path)
        try Data("no database, but longer than a header of one would be".utf8).write(to: data.appending(path: "pushhost.sqlite"))
        let old = try DevelopmentCertificate(names: [], now: SystemClock().now + .seconds(-900 * 86_400))
        try Data(old.chain.utf8).write(to: data.appending(path: "tls/server.pem"))
        try Data(old.key.reveal().utf8).write(to: data.appending(path: "tls/server.key"))
        let simulators = try await SimulatorBench()
        let sick = try await BuiltProgram.run(
            ["doctor", "--data", data.path],
            environment: ["PUSHHOST_LISTEN_PORT": String(simulators.port), "PUSHHOST_LISTEN_TLS_PORT": "8443"])
        _ = await simulators.end()
        #expect(sick.status == 1)
        for part in ["✗ database", "✗ certificate   it expired on", "✗ port \(simulators.port)"] {
            #expect(sick.output.contains(part), "\(part): \(sick.output)")
        }
    }

    @Test func `A hanging server does not keep the doctor from its other checks`() async throws {
        let folder = try ScriptFolder()
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        server.signal(SIGSTOP)
        let hung = try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url)
        server.signal(SIGCONT)
        #expect(hung.status == 1)
        #expect(hung.output.contains("✗ server        the server on data folder"), "\(hung.output)")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }
}
