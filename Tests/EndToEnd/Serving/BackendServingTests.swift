import Foundation
import HTTPTypes
import HostSupport
import PushModel
import Storage
import Support
import Testing

/// The app backend of `pushhost serve`, over the network and with its files.
@Suite struct BackendServingTests {
    private static func basic(_ name: String, _ password: String) -> KeyValuePairs<String, String> {
        ["Authorization": "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"]
    }

    /// Adds a user whose password is the marked text.
    private static func add(_ name: String, to hub: ServedHub) async throws {
        let body = #"{"username":"\#(name)","password":"\#(ServedHub.unspeakable)"}"#
        #expect(try await hub.call("POST", "/api/v1/users", body: body, by: .root).status == 201)
    }

    @Test func `The log contains no passwords, tokens, payloads or handles, even at level debug`() async throws {
        let secret = ServedHub.unspeakable
        try await ServedHub.serving(settings: ["PUSHHOST_LOG_LEVEL": "debug"]) { hub in
            for name in ["alice", "bob"] { try await Self.add(name, to: hub) }
            let (alice, bob) = (Self.basic("alice", secret), Self.basic("bob", secret))
            let id = try await hub.call("POST", "/api/register?handle=\(secret)\(secret)", alice, by: nil)
            #expect(id.status == 200 && id["Cache-Control"] == "no-store")
            let login = try await hub.call("POST", "/api/login", body: #"{"username":"alice","password":"\#(secret)"}"#, by: nil)
            let token = try #require(try JSON(parsing: login.body)["token"]?.string)
            let bearer: KeyValuePairs<String, String> = ["Authorization": "Bearer \(token)"]
            let sent = try await hub.call("POST", "/api/notifications", bearer, body: #"{"to":"bob","payload":"\#(secret)"}"#, by: nil)
            let payload = try #require(try JSON(parsing: sent.body)["id"]?.string)
            #expect(try await hub.call("GET", "/api/notifications/\(payload)", bearer, by: nil).status == 403)
            let read = try await hub.call("GET", "/api/notifications/\(payload)", bob, by: nil)
            #expect(read.status == 200 && read.body.contains(secret))
            #expect(
                try await hub.call("POST", "/api/notifications?pns=apns&to_tag=bob", bearer, body: "\"\(secret)\"", by: nil).status == 200)
            #expect(try await hub.call("POST", "/api/logout", bearer, by: nil).status == 204)
            #expect(try await hub.call("POST", "/api/register", Self.basic("alice", "\(secret)2"), by: nil).status == 403)
            let metrics = try await hub.call("GET", "/metrics", by: nil).body
            #expect(metrics.contains(#"route="backend_notification",status="403""#), "\(metrics.prefix(4000))")
            let log = try await hub.hear("POST /api/register 403")
            #expect(log.contains("login of alice rejected") && !log.contains(token))
        }
    }

    @Test func `A restored backup brings back accounts, sessions and payloads, and discards cached logins`() async throws {
        try await ServedHub.serving { hub in
            try await Self.add("alice", to: hub)
            let secret = ServedHub.unspeakable
            let login = try await hub.call("POST", "/api/login", Self.basic("alice", secret), by: nil)
            let token = try #require(try JSON(parsing: login.body)["token"]?.string)
            let bearer: KeyValuePairs<String, String> = ["Authorization": "Bearer \(token)"]
            let sent = try await hub.call("POST", "/api/notifications", bearer, body: #"{"to":"alice","payload":[1]}"#, by: nil)
            let payload = try #require(try JSON(parsing: sent.body)["id"]?.string)
            #expect(try await hub.command(["hub", "backup", "kept.sqlite"]).status == 0)
            let change = #"{"password":"another"}"#
            #expect(try await hub.call("PUT", "/api/v1/users/alice/password", body: change, by: .root).status == 204)
            #expect(try await hub.call("POST", "/api/register", Self.basic("alice", "another"), by: nil).status == 200)
            #expect(try await hub.call("POST", "/api/register", bearer, by: nil).status == 401)
            #expect(try await hub.command(["hub", "restore", "kept.sqlite", "--yes"]).status == 0)
            #expect(try await hub.call("POST", "/api/register", Self.basic("alice", "another"), by: nil).status == 403)
            let read = try await hub.call("GET", "/api/notifications/\(payload)", bearer, by: nil)
            #expect(read.status == 200 && read.body.contains(#""Content":[1]"#))
        }
    }

    @Test func `Tutorial mode is off by default, and a warning is shown at every start`() async throws {
        let alice = Self.basic("alice", "alice")
        try await ServedHub.serving { hub in
            let refused = try await hub.call("POST", "/api/register", alice, by: nil)
            #expect(refused.status == 403 && !hub.screen.contains("tutorial"))
        }
        let folder = try ScriptFolder()
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--tutorial-mode"], in: folder.url,
            environment: ["PUSHHOST_LOG_LEVEL": "warning"])
        try await server.hear("tutorial mode is on: a user name is also the password; never for real users")
        try await server.hear("  tutorial  on: a user name is also the password; never for real users\n")
        try await server.hear("Press Ctrl-C to stop.")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `The settings choose hub and variant when the path does not`() async throws {
        let settings = [
            "PUSHHOST_BACKEND_HUB": "shop/eu", "PUSHHOST_BACKEND_VARIANT": "cross-platform", "PUSHHOST_BACKEND_TUTORIAL_MODE": "on",
        ]
        try await ServedHub.serving(settings: settings) { hub in
            let alice = Self.basic("alice", "alice")
            #expect(try await hub.call("POST", "/api/register", alice, by: nil).status == 404)
            #expect(try await hub.call("POST", "/api/v1/hubs", body: #"{"name":"shop/eu"}"#, by: .root).status == 201)
            let id = try JSON(parsing: try await hub.call("POST", "/api/register", alice, by: nil).body).string ?? ""
            let body = #"{"Platform":"gcm","Handle":"token","Tags":null}"#
            #expect(try await hub.call("PUT", "/api/register/\(id)", alice, body: body, by: nil).status == 200)
            let kept = try await hub.call("GET", "/shop/eu/registrations/\(id)?api-version=2015-01", by: .root)
            #expect(kept.body.contains("GcmTemplateRegistrationDescription") && kept.body.contains("username:alice"))
            #expect(try await hub.call("POST", "/hub/tutorials/secure-push/api/notifications", alice, by: nil).status == 200)
            #expect(try await hub.call("POST", "/api/v1/hubs", body: #"{"name":"shop/api"}"#, by: .root).status == 400)
        }
    }

    @Test func `A missing hub of the backend is reported at the start and by the doctor until it is created`() async throws {
        let settings = ["PUSHHOST_BACKEND_HUB": "shop", "PUSHHOST_LOG_LEVEL": "warning"]
        try await ServedHub.serving(settings: settings) { hub in
            let warning = "backend.hub: unknown hub \"shop\"; /api answers 404 until it exists"
            let told = "\(warning); create it with pushhost hub create shop"
            if !hub.screen.contains(told) { try await hub.hear(told) }
            let sick = try await hub.command(["doctor"], environment: settings)
            #expect(sick.status == 1 && sick.output.contains("✗ backend       \(warning)"), "\(sick.output)")
            #expect(try await hub.command(["hub", "create", "Shop"]).status == 0)
            #expect(try await hub.command(["doctor"], environment: settings).output.contains("✓ backend       /api serves hub \""))
        }
    }

    @Test func `Accounts with a lab's weak hashes are reported at a start without the lab until their passwords change`() async throws {
        let folder = try ScriptFolder()
        func run(_ line: String) async throws -> BuiltProgram { try await BuiltProgram.shell("\(line) --data data", in: folder.url) }
        func serving(_ more: [String] = [], _ body: (Dialogue, String) async throws -> Void) async throws {
            let server = try Dialogue(
                ["serve", "--port", "0", "--tls-port", "none", "--data", "data"] + more, in: folder.url,
                environment: ["PUSHHOST_LOG_LEVEL": "warning"])
            try await body(server, try await server.hear("Press Ctrl-C to stop."))
            server.signal(SIGTERM)
            #expect(await server.end(closingInput: false).status == 0)
        }
        let finding = "the password of 1 account is hashed at a lab's low cost"
        try await serving(["--lab"]) { _, _ in
            let added = try await run("echo alice | $P user add alice --password-stdin")
            let doctor = try await run("PUSHHOST_LAB=on $P doctor")
            #expect(added.status == 0 && !doctor.output.contains("at a lab's low cost"))
        }
        try await serving { server, screen in
            // The warning may come before the end of the startup banner.
            if !screen.contains(finding) { try await server.hear(finding) }
            let sick = try await run("$P doctor")
            #expect(sick.status == 1 && sick.output.contains("✗ accounts      \(finding)"), "\(sick.output)")
            #expect(try await run("echo another | $P user passwd alice --password-stdin").status == 0)
            #expect(try await !run("$P doctor").output.contains("accounts"))
        }
    }

    @Test func `The doctor reports nothing about the backend if the database cannot be read`() async throws {
        let folder = try ScriptFolder()
        try folder.write("data/pushhost.sqlite", Data("no database, but longer than a header of one would be".utf8))
        try folder.write("data/payload.key", Data(count: 32))
        let sick = try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url, environment: ["PUSHHOST_BACKEND_HUB": "shop"])
        #expect(sick.status == 1 && sick.output.contains("✗ database"), "\(sick.output)")
        #expect(!sick.output.contains("backend") && !sick.output.contains("payload key"), "\(sick.output)")
    }

    // MARK: - The payload key

    @Test func `Payloads without a key mark are tested at the start, and the doctor reports that it does not know`() async throws {
        let folder = try ScriptFolder()
        let file = folder.url.appending(path: "data/payload.key")
        func doctor() async throws -> String { try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url).output }
        func serving(_ body: (Dialogue, String) async throws -> Void) async throws {
            let server = try Dialogue(
                ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--tutorial-mode"], in: folder.url,
                environment: ["PUSHHOST_LOG_LEVEL": "warning"])
            try await body(server, try await server.hear("Press Ctrl-C to stop."))
            server.signal(SIGTERM)
            #expect(await server.end(closingInput: false).status == 0)
        }
        var id = ""
        try await serving { _, screen in
            let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
            let sent = try await WireAnswer.exchange(
                "POST", "/api/notifications", Self.basic("alice", "alice").map { "\($0.key): \($0.value)" },
                body: Array(#"{"to":"alice","payload":1}"#.utf8), port: port)
            id = try #require(try JSON(parsing: sent.body)["id"]?.string)
        }
        let storage = try await SQLiteStorage.ofServer(in: folder.url.appending(path: "data"))
        _ = try await storage.securePayloads.update(id) { $0.keyMark = [] }
        try await storage.close()
        let doubt = "✗ payload key   unknown whether data/payload.key decrypts 1 secure payload"
        #expect(try await doctor().contains(doubt))
        let key = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        #expect(try await BuiltProgram.run(["hub", "renew-secrets", "--yes", "--data", "data"], in: folder.url).status == 0)
        let warning = "1 secure payload cannot be decrypted: data/payload.key is not the key that encrypted it"
        try await serving { server, screen in
            if !screen.contains(warning) { try await server.hear(warning) }
            #expect(try await doctor().contains(doubt))
        }
        try key.write(to: file)
        #expect(try await BuiltProgram.run(["hub", "renew-secrets", "--yes", "--data", "data"], in: folder.url).status == 0)
        try await serving { _, screen in #expect(!screen.contains("cannot be decrypted")) }
        #expect(try await doctor().contains("✓ payload key   decrypts all stored secure payloads"))
    }

    @Test func `A truncated key file is not overwritten, and the error says what to do`() async throws {
        let folder = try ScriptFolder()
        try folder.write("data/payload.key", Data([1, 2, 3]))
        let refused = try await BuiltProgram.run(["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains("data.payload_key") && refused.errors.contains("3 bytes, not 32"))
        let file = folder.url.appending(path: "data/payload.key")
        #expect(try Data(contentsOf: file) == Data([1, 2, 3]))
    }

    @Test func `A lost key is reported at the start and by the doctor, and its payloads answer 410`() async throws {
        let folder = try ScriptFolder()
        let file = folder.url.appending(path: "data/payload.key")
        let alice = Self.basic("alice", "alice")
        let warning = "1 secure payload cannot be decrypted: data/payload.key is not the key that encrypted it"
        func serving(_ body: (Int, Dialogue) async throws -> Void) async throws {
            let server = try Dialogue(
                ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--tutorial-mode"], in: folder.url,
                environment: ["PUSHHOST_LOG_LEVEL": "warning"])
            let screen = try await server.hear("Press Ctrl-C to stop.")
            let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
            // The warning may come before the end of the startup banner.
            if isLost, !screen.contains(warning) { try await server.hear(warning) }
            #expect(isLost || !screen.contains("cannot be decrypted"))
            try await body(port, server)
            server.signal(SIGTERM)
            #expect(await server.end(closingInput: false).status == 0)
        }
        func call(_ method: String, _ path: String, _ body: String = "", _ port: Int) async throws -> WireAnswer {
            try await WireAnswer.exchange(
                method, "/api/notifications\(path)", alice.map { "\($0.key): \($0.value)" }, body: Array(body.utf8), port: port)
        }
        func command(_ words: String...) async throws -> BuiltProgram {
            try await BuiltProgram.run(words + ["--data", "data"], in: folder.url)
        }
        var (isLost, id) = (false, "")
        try await serving { port, _ in
            id = try #require(try JSON(parsing: try await call("POST", "", #"{"to":"alice","payload":1}"#, port).body)["id"]?.string)
            #expect(try await command("hub", "backup", "kept.sqlite").status == 0)
        }
        #expect(try await command("doctor").output.contains("✓ payload key   decrypts all stored secure payloads"))
        let key = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        #expect(
            try await command("doctor").output.contains(
                "✗ payload key   data/payload.key is missing: the server does not start without it, and 1 secure payload cannot be"))
        // The server does not create a new key by itself.
        let refused = try await command("serve", "--port", "0", "--tls-port", "none")
        #expect(refused.status == 2 && refused.errors.contains("error[data.key_missing]: the key file data/payload.key is missing"))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try await command("hub", "renew-secrets", "--yes").status == 0)
        isLost = true
        try await serving { port, server in
            let gone = try await call("GET", "/\(id)", "", port)
            #expect(gone.status == 410 && gone.body.contains("secure.sealed"), "\(gone.body)")
            #expect(
                try await command("doctor").output.contains(
                    "✗ payload key   1 secure payload cannot be decrypted: data/payload.key is not the key"))
            #expect(try await command("hub", "restore", "kept.sqlite", "--yes").errors.contains("error[storage.sealed]"))
            #expect(try await command("hub", "restore", "kept.sqlite", "--yes", "--renew-secrets").status == 0)
            try await server.hear(warning)
        }
        try key.write(to: file)
        isLost = false
        #expect(try await command("hub", "restore", "kept.sqlite", "--yes").status == 0)
        try await serving { port, _ in
            let read = try await call("GET", "/\(id)", "", port)
            #expect(read.status == 200)
        }
    }
}
