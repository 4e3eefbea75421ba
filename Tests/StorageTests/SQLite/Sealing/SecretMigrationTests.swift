import GRDB
import Glibc
import PushModel
import Support
import Testing

@testable import Storage

/// The upgrade of a database with secrets in clear text.
@Suite struct SecretMigrationTests {
    @Test func `After the upgrade no file contains an old secret, not even a replaced or removed one`() async throws {
        let old = try await ClearSecrets()
        #expect(Set(try ClearSecrets.found(in: old.folder).keys) == Set(ClearSecrets.planted))
        let storage = try await SQLiteStorage.open(old.path)
        #expect(storage.residue == nil)
        #expect(try ClearSecrets.found(in: old.folder) == [:])
        try await storage.backup(to: old.folder.file("backup.db"))
        try await storage.close()
        #expect(old.folder.files == ["backup.db", "hub.db"])
        #expect(try ClearSecrets.found(in: old.folder) == [:])
        #expect(try await SQLiteStorage.contents(of: old.path).sealing?.isClean == true)
    }

    @Test func `After the upgrade all other data is unchanged`() async throws {
        let old = try await ClearSecrets()
        let storage = try await SQLiteStorage.open(old.path)
        let namespace = try await storage.namespace.load()
        func rule(_ prefix: String) -> AuthorizationRule {
            AuthorizationRule(
                name: "Rule", rights: [.listen, .send], primaryKey: Secret("\(prefix)-primary"),
                secondaryKey: Secret("\(prefix)-secondary"),
                createdAt: Timestamp(milliseconds: 1), modifiedAt: Timestamp(milliseconds: 2), ceiling: 7)
        }
        #expect(namespace.rules == [rule("planted-server")] && namespace.lastNumber == 2)
        let credential = PlatformCredential(properties: [("Token", Secret("planted-credential")), ("KeyId", Secret("k"))])
        #expect(
            namespace.hubs.map(\.description) == [
                HubDescription(
                    registrationTTL: .seconds(60), rules: [rule("planted-hub")], credentials: [.apns: credential], userMetadata: "m")
            ])
        let token = try await storage.providerTokens.token("team")
        #expect(token?.token.reveal() == "planted-token" && token?.issuedAt == Timestamp(milliseconds: 3))
        let job = try await storage.namespace.store(ofHub: 1).job("job-1")
        #expect(job?.outputContainerURI == "http://host/folder?sig=planted-address" && job?.status == .running)
        let space = storage.keyValues.space("plugin")
        #expect(try await space.value("k") == "planted-value")
        #expect(try await space.usage() == KeyValueUsage(entries: 2, bytes: 2 + ClearSecrets.value.utf8.count + ClearSecrets.slots.count))
        #expect(try await space.take(["d"], "2", of: 1) == [false])
        // The counted size is still right after the value is removed.
        let usage = try await space.usage()
        _ = try await space.remove("k", if: .always, now: HubBench.startTime)
        #expect(try await space.usage() == KeyValueUsage(entries: 1, bytes: usage.bytes - 1 - ClearSecrets.value.utf8.count))
        try await storage.close()
    }

    @Test func `A version that stores secrets in clear text rejects the upgraded database`() async throws {
        let bench = try await Bench()
        var before = DatabaseMigrator()
        for name in SQLiteSchema.migrator.migrations where name != "sealed secrets" { before.registerMigration(name) { _ in } }
        let isRefused = try await bench.storage.database.pool.read { [before] in try before.hasBeenSuperseded($0) }
        #expect(isRefused)
        try await bench.storage.close()
    }

    @Test func `An unreadable database is not upgraded and is left unchanged`() async throws {
        let old = try await ClearSecrets()
        let queue = try DatabaseQueue(path: old.path, configuration: SQLiteFile.configuration(readonly: false))
        try await queue.write { try $0.execute(sql: "UPDATE hub SET description = '{'") }
        try queue.close()
        let error = await refusal { try await SQLiteStorage.open(old.path) }
        #expect(error?.code == "storage.corrupt" && error?.message.hasPrefix("hub 1 cannot be read") == true, "\(error?.message ?? "")")
        let contents = try await SQLiteStorage.contents(of: old.path)
        #expect(contents.sealing == nil && contents.hubs == ["hub"])
    }

    @Test func `An old backup is sealed when it is restored, and none of its secrets reaches a file in clear text`() async throws {
        let old = try await ClearSecrets()
        let bench = try await Bench()
        try await bench.storage.restore(from: old.path) {
            // The copy that is about to replace the database.
            #expect(bench.folder.files.contains { $0.hasSuffix(".restoring") })
            let found = try? ClearSecrets.found(in: bench.folder)
            #expect(found == [:])
        }
        #expect(try await bench.storage.namespace.load().hubs.map(\.name) == ["hub"])
        #expect(try ClearSecrets.found(in: bench.folder) == [:])
        try await bench.storage.close()
        #expect(try ClearSecrets.found(in: bench.folder) == [:])
        // Also in a folder where no server runs.
        let target = try Folder()
        #expect(try await SQLiteStorage.replace(target.file("hub.db"), from: old.path) == nil)
        #expect(try ClearSecrets.found(in: target) == [:])
        let storage = try await SQLiteStorage.open(target.file("hub.db"))
        #expect(try await storage.namespace.load().rules.map { $0.primaryKey.reveal() } == ["planted-server-primary"])
        try await storage.close()
    }

    @Test func `A copy of an old database is sealed with the given key, and the database itself is unchanged`() async throws {
        let old = try await ClearSecrets()
        #expect(try await SQLiteStorage.sealing(of: old.path) == nil)
        let (database, log) = (try old.folder.bytes(of: "hub.db"), try old.folder.bytes(of: "hub.db-wal"))
        let copies = try Folder()
        let path = copies.file("copy.db")
        try await SQLiteStorage.copy(old.path, to: path, sealing: .test)
        #expect(copies.files == ["copy.db"])
        #expect(try ClearSecrets.found(in: copies) == [:])
        #expect(try old.folder.bytes(of: "hub.db") == database && old.folder.bytes(of: "hub.db-wal") == log)
        let sealing = try #require(try await SQLiteStorage.sealing(of: path))
        #expect(sealing.isSealed(with: .test) && sealing.isClean)
        let storage = try await SQLiteStorage.open(path)
        #expect(try await storage.namespace.load().rules.map { $0.primaryKey.reveal() } == ["planted-server-primary"])
        #expect(try await storage.providerTokens.token("team")?.token.reveal() == "planted-token")
        try await storage.close()
        // A database that is already sealed is copied with the same key.
        try await SQLiteStorage.copy(path, to: copies.file("second.db"), sealing: .test)
        #expect(try await SQLiteStorage.sealing(of: copies.file("second.db")) == sealing)
    }

    @Test func `If the pages cannot be rewritten, the server starts and reports it, and the next start rewrites them`() async throws {
        // Mounting needs root.
        guard let disk = try SmallDisk() else { return }
        let old = try await ClearSecrets(devices: 1_000)
        for name in old.folder.files {
            try #require(disk.put(try old.folder.bytes(of: name), at: name))
        }
        let size = try old.folder.files.reduce(0) { try $0 + old.folder.bytes(of: $1).count }
        // Enough for the log of the upgrade, but not for a rewrite of the whole database.
        try #require(disk.put([UInt8](repeating: 1, count: (2 << 20) - size - 300_000), at: "other"))
        let storage = try await SQLiteStorage.open(disk.file("hub.db"))
        #expect(storage.residue?.code == "storage.unavailable", "\(size)")
        #expect(try await SQLiteStorage.contents(of: disk.file("hub.db")).sealing?.isClean == false)
        #expect(try await storage.namespace.load().hubs.map(\.name) == ["hub"])
        // A backup is still clean.
        let copies = try Folder()
        try await storage.backup(to: copies.file("backup.db"))
        #expect(try ClearSecrets.found(in: copies) == [:])
        try await storage.close()
        unlink(disk.file("other"))
        let second = try await SQLiteStorage.open(disk.file("hub.db"))
        #expect(second.residue == nil)
        #expect(try ClearSecrets.found(in: disk.folder) == [:])
        try await second.close()
    }
}
