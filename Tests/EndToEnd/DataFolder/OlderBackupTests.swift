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

    private func run(_ words: String...) async throws -> BuiltProgram { try await BuiltProgram.run(words, in: folder.url) }

    @Test func `The backup is sealed with the server's key, and the database is unchanged`() async throws {
        let rules = try DatabaseRows(file: database)("SELECT rules FROM namespace UNION ALL SELECT description FROM hub").joined()
        let secrets = rules.matches(of: /"(primary|secondary)":"([^"]+)"/).map { Data($0.2.utf8) }
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
