import Foundation
import HostSupport
import PushModel
import Storage
import Support
import Testing

@testable import PushServer

/// A data folder whose server was killed, and whose database then lost acknowledged changes with its log.
@Suite struct LostLogTests {
    /// Damage to the log of a killed server.
    enum Damage: CaseIterable, Sendable {
        case emptied, halved, removed, removedWithIndex

        var finding: String {
            switch self {
            case .emptied: "is empty"
            case .halved: "frames"
            case .removed, .removedWithIndex: "is missing"
            }
        }

        func apply(to database: URL) throws {
            let (log, index) = (URL(filePath: "\(database.path)-wal"), URL(filePath: "\(database.path)-shm"))
            switch self {
            case .emptied: try Data().write(to: log)
            case .halved:
                let bytes = try Data(contentsOf: log)
                try bytes.prefix(bytes.count / 2).write(to: log)
            case .removed: try FileManager.default.removeItem(at: log)
            case .removedWithIndex: for file in [log, index] { try FileManager.default.removeItem(at: file) }
            }
        }
    }

    private static let count = 20
    private static let warning = "the latest changes may be lost"

    private let folder: ScriptFolder
    private var data: URL { folder.url.appending(path: "data") }
    private var database: URL { data.appending(path: "pushhost.sqlite") }
    private var mark: URL { data.appending(path: "database-open") }
    private var isMarked: Bool { FileManager.default.fileExists(atPath: mark.path) }

    init() throws { folder = try ScriptFolder() }

    private func run(_ words: String...) async throws -> BuiltProgram {
        try await BuiltProgram.run(words + ["--data", "data"], in: folder.url)
    }

    private func start() async throws -> BuiltProgram { try await run("serve", "--port", "0", "--tls-port", "none") }

    private func curl(_ line: String) async throws -> String {
        try await BuiltProgram.shell("curl -s --unix-socket data/pushhost.sock \(line)", in: folder.url).output
    }

    private func register(_ ids: Range<Int>) async throws {
        for id in ids {
            let handle = String(repeating: "0", count: 62) + String(id + 10)
            let installation = #"{"installationId":"i\#(id)","platform":"apns","pushChannel":"\#(handle)"}"#
            _ = try await curl("-X PUT 'http://localhost/hub/installations/i\(id)?api-version=2020-06' -d '\(installation)'")
        }
    }

    private func installations() async throws -> Int? {
        try JSON(parsing: try await curl("http://localhost/api/v1/hubs/hub"))["installations"]?.int
    }

    /// A server with a backup and later registrations, ended by a signal.
    private func used(until end: Int32) async throws {
        try await folder.serving(until: end) { _, _ in
            try await register(0..<Self.count / 2)
            #expect(try await run("hub", "backup", "good").status == 0)
            try await register(Self.count / 2..<Self.count)
            #expect(isMarked)
        }
        #expect(isMarked == (end == SIGKILL))
    }

    /// The content of all files except the lock and the socket.
    private func files() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: data.path).filter { $0 != "pushhost.sock" }
        return try names.reduce(into: [:]) { files, name in
            let file = data.appending(path: name)
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return }
            files[name] = try Data(contentsOf: file)
        }
    }

    // MARK: - The log

    @Test(arguments: Damage.allCases)
    func `A server does not start without acknowledged changes, and a backup repairs it`(damage: Damage) async throws {
        try await used(until: SIGKILL)
        try damage.apply(to: database)
        let before = try files()
        let refused = try await start()
        #expect(refused.status == 2 && refused.output.isEmpty, "\(refused.output)")
        #expect(refused.errors.contains("error[storage.damaged]: the database data/pushhost.sqlite was not closed"), "\(refused.errors)")
        #expect(refused.errors.contains(damage.finding) && refused.errors.contains("pushhost hub restore FILE"), "\(refused.errors)")
        #expect(refused.errors.contains("nothing was changed") && refused.errors.contains("data/database-open"), "\(refused.errors)")
        let doctor = try await run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains("✗ database      the database data/pushhost.sqlite"), "\(doctor.output)")
        #expect(doctor.output.contains(damage.finding), "\(doctor.output)")
        for words in [["hub", "backup", "bad"], ["audit", "verify"], ["hub", "renew-secrets", "--yes"]] {
            let other = try await BuiltProgram.run(words + ["--data", "data"], in: folder.url)
            #expect(other.status != 0 && other.errors.contains("error[storage.damaged]"), "\(words): \(other.errors)")
        }
        #expect(try files() == before)
        let restored = try await run("hub", "restore", "good", "--yes")
        #expect(restored.status == 0 && restored.output.contains(damage.finding), "\(restored.output)\(restored.errors)")
        #expect(!isMarked)
        #expect(try await run("doctor").output.contains("✓ database"))
        try await folder.serving { _, screen in
            #expect(!screen.contains(Self.warning), "\(screen)")
            let found = try await installations()
            #expect(found == Self.count / 2)
        }
    }

    @Test(arguments: [Damage.halved, .removed])
    func `Without its mark a server starts with the remaining changes, and warns`(damage: Damage) async throws {
        try await used(until: SIGKILL)
        try damage.apply(to: database)
        try FileManager.default.removeItem(at: mark)
        let doctor = try await run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains(Self.warning), "\(doctor.output)")
        try await folder.serving { server, screen in
            if !screen.contains(Self.warning) { try await server.hear(Self.warning) }
            #expect(try await installations() != Self.count)
        }
        try await folder.serving { _, screen in #expect(!screen.contains(Self.warning)) }
    }

    @Test func `Without the index of the log a server starts with what the log has, and warns`() async throws {
        try await used(until: SIGKILL)
        try Damage.halved.apply(to: database)
        try FileManager.default.removeItem(atPath: "\(database.path)-shm")
        let doctor = try await run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains(Self.warning), "\(doctor.output)")
        #expect(doctor.output.contains("data/pushhost.sqlite-shm, is missing"), "\(doctor.output)")
        try await folder.serving { server, screen in
            if !screen.contains(Self.warning) { try await server.hear(Self.warning) }
            #expect(try await installations() != Self.count)
        }
        try await folder.serving { _, screen in #expect(!screen.contains(Self.warning)) }
    }

    @Test func `A server that was killed starts with all changes, again and again`() async throws {
        try await used(until: SIGKILL)
        for round in 0..<3 {
            try await folder.serving(until: round == 2 ? SIGTERM : SIGKILL) { _, screen in
                #expect(!screen.contains(Self.warning), "\(screen)")
                let found = try await installations()
                #expect(found == Self.count)
            }
        }
        #expect(!isMarked && !FileManager.default.fileExists(atPath: "\(database.path)-wal"))
        try await folder.serving { _, _ in
            let found = try await installations()
            #expect(found == Self.count)
        }
    }

    @Test func `Commands that move the log into the database remove the mark`() async throws {
        try await used(until: SIGKILL)
        #expect(try await run("doctor").output.contains("✓ database"))
        #expect(try await run("audit", "verify").status == 0)
        #expect(try await run("hub", "backup", "copy").status == 0)
        #expect(isMarked)
        #expect(try await run("hub", "renew-secrets", "--yes").status == 0)
        #expect(!isMarked && !FileManager.default.fileExists(atPath: "\(database.path)-wal"))
        try await folder.serving { _, _ in
            let found = try await installations()
            #expect(found == Self.count)
        }
        #expect(try await run("hub", "restore", "copy", "--yes").status == 0)
        try await folder.serving { _, _ in
            let found = try await installations()
            #expect(found == Self.count)
        }
    }

    // MARK: - While a server runs

    /// Waits until a running server is not ready. Returns the reason that probes get.
    private func reasonNotReady(_ screen: String) async throws -> String {
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        func ready() async throws -> WireAnswer { try await WireAnswer.exchange("GET", "/health/ready", [], body: [], port: port) }
        // The result of the readiness test is cached for some seconds.
        try await until { try await ready().status == 503 }
        return try await ready().body
    }

    @Test(arguments: [["-wal"], ["-shm"], ["-wal", "-shm"]])
    func `A server whose log or index is removed is not ready, and its shutdown saves the changes`(endings: [String]) async throws {
        let finding = "data/pushhost.sqlite\(endings[0])"
        try await folder.serving { server, screen in
            try await register(0..<Self.count / 2)
            #expect(try await run("doctor").output.contains("✓ database"))
            for ending in endings { try FileManager.default.removeItem(atPath: "\(database.path)\(ending)") }
            try await register(Self.count / 2..<Self.count)
            #expect(try await reasonNotReady(screen).contains("the storage is not writable; see the server's log"))
            let heard = try await server.hear("was removed or replaced: ")
            #expect(heard.contains("not ready: ") && heard.contains(finding), "\(heard)")
            let doctor = try await run("doctor")
            let line = doctor.output.split(separator: "\n").first { $0.hasPrefix("✗ database") } ?? ""
            #expect(doctor.status == 1 && line.contains(finding), "\(doctor.output)")
        }
        try await folder.serving { _, screen in
            #expect(!screen.contains(Self.warning), "\(screen)")
            let found = try await installations()
            #expect(found == Self.count)
        }
    }

    @Test func `A log that is emptied while a server runs counts as damage, and the next start reports it too`() async throws {
        let finding = "the database data/pushhost.sqlite has lost changes: its write-ahead log, data/pushhost.sqlite-wal, was truncated"
        try await folder.serving { server, screen in
            try await register(0..<Self.count / 2)
            #expect(try await run("hub", "backup", "good").status == 0)
            try await register(Self.count / 2..<Self.count)
            try #require(truncate("\(database.path)-wal", 0) == 0)
            #expect(try await reasonNotReady(screen).contains("the database is damaged; see the server's log"))
            try await server.hear("not ready: \(finding)")
            let doctor = try await run("doctor")
            #expect(doctor.status == 1 && doctor.output.contains("✗ database      \(finding)"), "\(doctor.output)")
            #expect(try await curl("http://localhost/metrics").contains("pushhost_database_damaged 1"))
        }
        #expect(isMarked)
        let refused = try await start()
        #expect(refused.status == 2, "\(refused.output)")
        #expect(refused.errors.contains("error[storage.damaged]: the database data/pushhost.sqlite"), "\(refused.errors)")
        #expect(try await run("hub", "restore", "good", "--yes").status == 0)
        try await folder.serving { _, _ in
            let found = try await installations()
            #expect(found == Self.count / 2)
        }
    }

    // MARK: - Rejected starts

    @Test(arguments: [SIGTERM, SIGKILL])
    func `A start that a damaged page prevents changes nothing`(end: Int32) async throws {
        try await used(until: SIGTERM)
        let page = try #require(Int(try DatabaseRows(file: database)("SELECT rootpage FROM sqlite_schema WHERE name = 'hub'").first ?? ""))
        if end == SIGKILL { try await folder.serving(until: SIGKILL) { _, _ in try await register(Self.count..<Self.count + 5) } }
        var bytes = try Data(contentsOf: database)
        bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0xA5, count: 4096))
        try bytes.write(to: database)
        func content() throws -> [String: Data] { try files().filter { !$0.key.hasSuffix("-shm") } }
        let before = try content()
        for _ in 0..<2 {
            let refused = try await start()
            #expect(refused.status == 2 && refused.errors.contains("error[storage.corrupt]"), "\(refused.errors)")
            #expect(try content() == before)
        }
        #expect(isMarked == (end == SIGKILL))
    }

    @Test func `A start with another key changes nothing`() async throws {
        try await used(until: SIGTERM)
        try Data(repeating: 1, count: 32).write(to: data.appending(path: "payload.key"))
        let before = try files()
        let refused = try await start()
        #expect(refused.status == 2 && refused.errors.contains("error[storage.sealed]"), "\(refused.errors)")
        #expect(try files() == before)
    }

    // MARK: - identity.json

    @Test(arguments: ["", "{x", "{}", #"{"used":true,"database":"?"}"#])
    func `A damaged identity.json is reported and written again`(content: String) async throws {
        try await used(until: SIGTERM)
        let identity = data.appending(path: "identity.json")
        let before = try Data(contentsOf: identity)
        try Data(content.utf8).write(to: identity)
        let doctor = try await run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains("✗ identity      identity.json of the data folder data is damaged"))
        #expect(doctor.output.contains("✓ database"), "\(doctor.output)")
        let warning = "identity.json of the data folder data is damaged: it no longer records"
        try await folder.serving { server, screen in
            if !screen.contains(warning) { try await server.hear(warning) }
            #expect(try await installations() == Self.count)
        }
        #expect(try Data(contentsOf: identity) == before)
        #expect(try await run("doctor").output.contains("✗ identity") == false)
    }

    @Test func `With a damaged identity.json the key does not count as lost`() async throws {
        try await used(until: SIGTERM)
        try Data().write(to: data.appending(path: "identity.json"))
        let key = folder.url.appending(path: "elsewhere.key")
        try FileManager.default.moveItem(at: data.appending(path: "payload.key"), to: key)
        for words in [["hub", "renew-secrets", "--yes"], ["hub", "restore", "good", "--yes", "--renew-secrets"]] {
            let refused = try await BuiltProgram.run(words + ["--data", "data"], in: folder.url)
            #expect(refused.status == 2 && refused.errors.contains("error[data.key_missing]"), "\(words): \(refused.errors)")
            #expect(refused.errors.contains("is damaged") && refused.errors.contains("--key-is-lost"), "\(refused.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: data.appending(path: "payload.key").path))
        #expect(try await run("hub", "renew-secrets", "--yes", "--key-is-lost").status == 0)
    }
}
