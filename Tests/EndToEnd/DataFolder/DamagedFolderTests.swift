import Foundation
import HostSupport
import PushModel
import Storage
import Support
import Testing

@testable import PushServer

/// A data folder whose database is missing or damaged.
@Suite struct DamagedFolderTests {
    private let folder: ScriptFolder
    private var data: URL { folder.url.appending(path: "data") }
    private var database: URL { data.appending(path: "pushhost.sqlite") }
    private var mark: URL { data.appending(path: "identity.json") }

    init() throws { folder = try ScriptFolder() }

    private func run(_ words: String...) async throws -> BuiltProgram {
        try await BuiltProgram.run(words + ["--data", "data"], in: folder.url)
    }

    private func refused() async throws -> BuiltProgram {
        try await BuiltProgram.run(["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
    }

    private func curl(_ line: String) async throws -> String {
        try await BuiltProgram.shell("curl -s --unix-socket data/pushhost.sock \(line)", in: folder.url).output
    }

    private func register() async throws {
        let installation = #"{"installationId":"i","platform":"apns","pushChannel":"\#(String(repeating: "a", count: 64))"}"#
        _ = try await curl("-X PUT 'http://localhost/hub/installations/i?api-version=2020-06' -d '\(installation)'")
    }

    private func installations() async throws -> Int? {
        try JSON(parsing: try await curl("http://localhost/api/v1/hubs/hub"))["installations"]?.int
    }

    private func files() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: data.path).filter { $0.hasPrefix("pushhost.sqlite") }
        return try names.reduce(into: [:]) { $0[$1] = try Data(contentsOf: data.appending(path: $1)) }
    }

    @Test func `A server does not start with a missing or damaged database, and a backup repairs each case`() async throws {
        var (whole, log) = (Data(), Data())
        try await folder.serving { server, _ in
            try await register()
            #expect(try await run("hub", "backup", "good").status == 0)
            // As a kill would leave the files.
            server.signal(SIGSTOP)
            defer { server.signal(SIGCONT) }
            (whole, log) = (try Data(contentsOf: database), try Data(contentsOf: data.appending(path: "pushhost.sqlite-wal")))
        }
        let kinds: [(database: Data?, log: Data?, finding: String)] = [
            (Data(), log, "is empty, although a server has used its folder"), (nil, nil, "is missing, although"),
            (whole.prefix(whole.count / 2), nil, "is truncated"), (Data("Dear diary".utf8), nil, "are not a SQLite database"),
            (whole, Data("no log at all, but longer than its header".utf8), "are not a valid log"),
        ]
        for kind in kinds {
            for (name, content) in [("pushhost.sqlite", kind.database), ("pushhost.sqlite-wal", kind.log)] {
                try? FileManager.default.removeItem(at: data.appending(path: name))
                try content?.write(to: data.appending(path: name))
            }
            let before = try files()
            let program = try await refused()
            #expect(program.status == 2 && program.output.isEmpty, "\(kind.finding): \(program.output)")
            #expect(program.errors.contains("error[storage.damaged]: the database data/pushhost.sqlite"), "\(program.errors)")
            #expect(program.errors.contains(kind.finding) && program.errors.contains("pushhost hub restore FILE"), "\(program.errors)")
            let doctor = try await run("doctor")
            #expect(doctor.status == 1)
            #expect(doctor.output.contains("✗ database      the database data/pushhost.sqlite"), "\(doctor.output)")
            #expect(doctor.output.contains(kind.finding), "\(doctor.output)")
            let backup = try await run("hub", "backup", "bad")
            #expect(backup.errors.contains("error[storage.damaged]"), "\(backup.errors)")
            #expect(try files() == before)
            let restored = try await run("hub", "restore", "good", "--yes")
            #expect(restored.status == 0 && restored.output.contains(kind.finding), "\(restored.output)\(restored.errors)")
            #expect(try await run("doctor").output.contains("✓ database"))
        }
        try await folder.serving { _, screen in
            #expect(!screen.contains("warning"), "\(screen)")
            let count = try await installations()
            #expect(count == 1)
        }
    }

    @Test func `A folder with only a key file counts as new, and its database is sealed with that key`() async throws {
        let key = Data((0..<32).map { UInt8($0) })
        try folder.write("data/payload.key", key)
        let doctor = try await run("doctor")
        #expect(doctor.output.contains("no server is running"))
        // The key may be prepared for a new server, or be all that is left of one.
        let finding = "the data folder data has a payload key, data/payload.key, but no database"
        #expect(doctor.output.contains("! database      \(finding); the first start creates one with it"), "\(doctor.output)")
        #expect(doctor.output.contains("restore a backup with pushhost hub restore FILE"), "\(doctor.output)")
        // A failing command does not mark the folder as used.
        try folder.write("bad", Data("no backup".utf8))
        #expect(try await run("hub", "restore", "bad", "--yes").errors.contains("error[storage.foreign_file]"))
        try await folder.serving { server, screen in
            if !screen.contains(finding) { try await server.hear(finding) }
            try await register()
        }
        #expect(try Data(contentsOf: data.appending(path: "payload.key")) == key)
        #expect(try await run("doctor").output.contains("✓ database"))
        try await folder.serving { _, screen in
            #expect(!screen.contains(finding), "\(screen)")
            let count = try await installations()
            #expect(count == 1)
        }
        // From now on the folder belongs to a server.
        try FileManager.default.removeItem(at: database)
        #expect(try await refused().errors.contains("error[storage.damaged]"))
        try FileManager.default.removeItem(at: data.appending(path: "lock"))
        #expect(try await refused().errors.contains("error[storage.damaged]"))
        #expect(!FileManager.default.fileExists(atPath: database.path))
    }

    @Test func `A folder of an older version is marked at the next start, and its lock shows that it was used`() async throws {
        try await folder.serving()
        let first = try Data(contentsOf: mark)
        try FileManager.default.removeItem(at: mark)
        try await folder.serving()
        #expect(try Data(contentsOf: mark) == first)
        try FileManager.default.removeItem(at: mark)
        try FileManager.default.removeItem(at: database)
        #expect(try await refused().errors.contains("error[storage.damaged]"))
        #expect(!FileManager.default.fileExists(atPath: database.path))
    }

    @Test func `A first start that was interrupted before it created a database can be repeated`() async throws {
        let locked = try DataFolder(path: data.path)
        #expect(try await FolderDatabase.preparing(locked).isNew)
        _ = try PayloadKeyFile(folder: data.path).key()
        locked.release()
        let unused = try JSON(parsing: Array(try Data(contentsOf: mark)))
        #expect(unused["used"]?.bool == false)
        // An empty database file does not count as use.
        try Data().write(to: database)
        #expect(try await run("hub", "backup", "a").errors.contains("error[storage.not_found]"))
        try await folder.serving()
        let used = try JSON(parsing: Array(try Data(contentsOf: mark)))
        #expect(used["used"]?.bool == true && used["database"] == unused["database"])
    }

    @Test func `A replaced database is used, and the log reports it`() async throws {
        try await folder.serving { _, _ in try await register() }
        // Another server's database of the same operator, sealed with the same key.
        let seal = PayloadKeyFile.seal(of: try PayloadKeyFile(folder: data.path).read())
        let other = try await SQLiteStorage.open(folder.url.appending(path: "other").path, seal: seal)
        _ = try await other.identify(as: DatabaseIdentity(random: 1 << 40))
        try await other.close()
        try FileManager.default.removeItem(at: database)
        try FileManager.default.copyItem(at: folder.url.appending(path: "other"), to: database)
        let warning = "was replaced by another one, which is used from now on"
        try await folder.serving { server, screen in
            if !screen.contains(warning) { try await server.hear(warning) }
            #expect(try await installations() == 0)
        }
        // From now on it belongs to the folder.
        try await folder.serving { _, screen in #expect(!screen.contains(warning)) }
    }

    @Test func `With a damaged page the server is not ready, logs the reason once, and is repaired by a backup`() async throws {
        try await folder.serving { _, _ in
            try await register()
            #expect(try await run("hub", "backup", "good").status == 0)
        }
        let rows = DatabaseRows(file: database)
        let page = try #require(Int(try rows("SELECT rootpage FROM sqlite_schema WHERE name = 'provider_token'").first ?? ""))
        var bytes = try Data(contentsOf: database)
        bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0xA5, count: 4096))
        try bytes.write(to: database)
        try await folder.serving { server, screen in
            let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
            func ready() async throws -> WireAnswer { try await WireAnswer.exchange("GET", "/health/ready", [], body: [], port: port) }
            try await until { try await ready().status == 503 }
            #expect(try await ready().body.contains("the database is damaged; see the server's log"))
            let reason = "not ready: the database data/pushhost.sqlite cannot be read"
            let heard = screen.contains(reason) ? screen : try await server.hear("pushhost hub restore FILE")
            #expect(heard.contains(reason), "\(heard)")
            let doctor = try await run("doctor")
            #expect(doctor.output.contains("✗ database") && doctor.output.contains("✗ server        it is not ready"), "\(doctor.output)")
            #expect(try await curl("http://localhost/metrics").contains("pushhost_database_damaged 1"))
            // The intact tables still work.
            #expect(try await installations() == 1)
            #expect(try await run("hub", "restore", "good", "--yes").status == 0)
            #expect(try await ready().status == 200)
            #expect(try await installations() == 1)
        }
        #expect(try await run("doctor").output.contains("✓ database"))
    }
}
