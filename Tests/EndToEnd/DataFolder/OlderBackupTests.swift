import Foundation
import HostSupport
import Support
import Testing

/// `pushhost hub backup` of a database from an older version, whose secrets are not encrypted.
@Suite struct OlderBackupTests {
    private let folder: ScriptFolder
    private var database: URL { folder.url.appending(path: "data/pushhost.sqlite") }

    init() throws {
        folder = try ScriptFolder()
        try FileManager.default.createDirectory(at: folder.url.appending(path: "data"), withIntermediateDirectories: true)
        try DatabaseRows(file: database).make(OlderDatabase.sendsToPlans)
    }

    /// The access keys in the database.
    private func secrets() throws -> [Data] {
        let rules = try DatabaseRows(file: database)("SELECT rules FROM namespace UNION ALL SELECT description FROM hub").joined()
        return rules.matches(of: /"(primary|secondary)":"([^"]+)"/).map { Data($0.2.utf8) }
    }

    /// The files of a folder. A temporary file may be gone before it is read.
    private static func files(of folder: URL) throws -> [(name: String, content: Data)] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { name in
            guard let content = try? Data(contentsOf: folder.appending(path: name)) else { return nil }
            return (name, content)
        }
    }

    private static func expectNone(of secrets: [Data], in folder: URL) throws {
        for file in try files(of: folder) {
            for secret in secrets where file.content.range(of: secret) != nil { Issue.record("\(file.name) has a secret in clear") }
        }
    }

    /// Whether the command has written its copy.
    private static func hasSealedCopy(_ folder: URL) throws -> Bool {
        try files(of: folder).contains { $0.name.hasPrefix("backup-") && $0.content.range(of: Data("secret_key".utf8)) != nil }
    }

    private func run(_ words: String...) async throws -> BuiltProgram { try await BuiltProgram.run(words, in: folder.url) }

    @Test func `While a running server restores it, no file of the data folder has its secrets in clear text`() async throws {
        let (old, secrets) = (try Data(contentsOf: database), try secrets())
        try await ServedHub.serving { hub in
            try old.write(to: hub.data.appending(path: "../old.sqlite"))
            // While the server is stopped, the command's copy stays in the folder.
            kill(hub.processIdentifier, SIGSTOP)
            defer { kill(hub.processIdentifier, SIGCONT) }
            async let command = hub.command(["hub", "restore", "old.sqlite", "--yes"])
            try await until {
                try Self.expectNone(of: secrets, in: hub.data)
                return try Self.hasSealedCopy(hub.data)
            }
            kill(hub.processIdentifier, SIGCONT)
            let run = try await command
            #expect(run.status == 0, "\(run.errors)")
            try Self.expectNone(of: secrets, in: hub.data)
        }
    }

    @Test func `The backup is sealed with the server's key, and the database is unchanged`() async throws {
        let secrets = try secrets()
        let original = try Data(contentsOf: database)
        #expect(secrets.count >= 4 && secrets.allSatisfy { original.range(of: $0) != nil })

        let keyless = try await run("hub", "backup", "a.sqlite", "--data", "data")
        #expect(keyless.status == 2 && keyless.errors.contains("error[data.key_missing]"), "\(keyless.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "a.sqlite").path))
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "data/payload.key").path))

        let key = Data((1...32).map { UInt8($0) })
        try folder.write("data/payload.key", key)
        let backup = try await run("hub", "backup", "a.sqlite", "--data", "data")
        #expect(backup.status == 0, "\(backup.errors)")
        let copy = try Data(contentsOf: folder.url.appending(path: "a.sqlite"))
        #expect(secrets.allSatisfy { copy.range(of: $0) == nil })
        #expect(try Data(contentsOf: database) == original)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "data").path)
        #expect(!names.contains { $0.hasPrefix("backup-") }, "\(names)")

        // It opens with that key, in another folder too.
        try folder.write("new/payload.key", key)
        let restored = try await run("hub", "restore", "a.sqlite", "--yes", "--data", "new")
        #expect(restored.status == 0, "\(restored.errors)")
        let renewed = try await run("hub", "renew-secrets", "--yes", "--data", "new")
        #expect(
            renewed.status == 0 && renewed.output.contains("all secrets can be decrypted with the key file"),
            "\(renewed.output)\(renewed.errors)")
    }
}
