import GRDB
import PushModel
import Support
import Testing

@testable import Storage

@Suite struct SQLiteKeyValueStoreTests {
    private let startTime = HubBench.startTime

    private func filled() async throws -> Bench {
        let bench = try await Bench()
        let space = bench.storage.keyValues.space("plugin")
        try await space.put(["a": 1], for: "k", expires: startTime + .seconds(60))
        #expect(try await space.take(["d"], "1", of: 1) == [true])
        _ = try await bench.storage.auditTrail.append(AuditRecord(time: startTime, actor: "ann", action: "a", subject: "b"))
        return bench
    }

    /// Checks what `filled` has stored.
    private func expectFilled(_ storage: SQLiteStorage) async throws {
        let space = storage.keyValues.space("plugin")
        let entry = try #require(try await space.value("k", now: startTime))
        #expect(entry.value == ["a": 1] && entry.expires == startTime + .seconds(60))
        #expect(try await space.take(["d"], "1", of: 1) == [true])
        #expect(try await space.take(["d"], "2", of: 1) == [false])
        #expect(try await storage.auditTrail.entries(after: 0, limit: 9, AuditFilter()).map(\.record.actor) == ["ann"])
        guard case .intact = try await storage.auditTrail.verify() else {
            Issue.record("the trail is not whole")
            return
        }
    }

    @Test func `Values of plugins and the audit log survive closing and opening`() async throws {
        let bench = try await filled()
        let usage = try await bench.storage.keyValues.space("plugin").usage()
        try await bench.storage.close()
        let reopened = try await SQLiteStorage.open(bench.folder.file("hub.db"))
        #expect(try await reopened.keyValues.space("plugin").usage() == usage)
        try await expectFilled(reopened)
        try await reopened.close()
    }

    @Test func `Confirmed writes survive a crash`() async throws {
        let bench = try await Bench()
        let copies = try Folder()
        let space = bench.storage.keyValues.space("plugin")
        for number in 1...10 as ClosedRange<Int64> {
            let granted = try await space.take(["d"], "\(number)", of: 7)
            #expect(try await space.add(1, to: "n", expiresIfNew: nil, now: startTime) == number)
            let entry = try await bench.storage.auditTrail.append(
                AuditRecord(time: startTime, actor: "ann", action: "a", subject: "\(number)"))
            // The files as a crash at this point would leave them.
            let name = "\(number).db"
            try copies.write(try bench.folder.bytes(of: "hub.db"), to: name)
            try copies.write(try bench.folder.bytes(of: "hub.db-wal"), to: "\(name)-wal")
            let survivor = try await SQLiteStorage.open(copies.file(name))
            let survived = survivor.keyValues.space("plugin")
            #expect(try await survived.value("n") == .integer(number))
            #expect(try await survived.usage() == (try await space.usage()))
            #expect(try await survived.take(["d"], "\(number)", of: 1) == granted)
            #expect(try await survivor.auditTrail.verify() == .intact(AuditHead(sequence: number, hash: entry.hash)))
            try await survivor.close()
        }
    }

    @Test func `A backup contains and restores the values of plugins and the audit log`() async throws {
        let bench = try await filled()
        let (space, backup) = (bench.storage.keyValues.space("plugin"), bench.folder.file("backup.db"))
        try await bench.storage.backup(to: backup)
        let copy = try await SQLiteStorage.open(backup)
        try await expectFilled(copy)
        try await copy.close()
        try await bench.storage.backup(to: bench.folder.file("second.db"))
        let version = try #require(try await space.put(2, for: "k"))
        try await bench.storage.keyValues.space("other").put(1, for: "k")
        _ = try await bench.storage.auditTrail.append(AuditRecord(time: startTime, actor: "bob", action: "a", subject: "b"))
        try await bench.storage.restore(from: bench.folder.file("second.db"))
        try await expectFilled(bench.storage)
        #expect(try await bench.storage.keyValues.names() == ["plugin"])
        // Writing works on. A version read before the restore matches nothing, because it is newer than the backup.
        try await space.put(3, for: "k", now: startTime + .seconds(1))
        let put = try await space.put(4, for: "k", expires: nil, if: .version(version), now: startTime + .seconds(1))
        #expect(put == .conflict(version: startTime.milliseconds + 1000))
        try await bench.storage.close()
    }

    @Test func `A database from before plugins can store their values`() async throws {
        let folder = try Folder()
        let old = try DatabaseQueue(path: folder.file("hub.db"), configuration: SQLiteFile.configuration(readonly: false))
        try SQLiteSchema.migrator.migrate(old, upTo: "devices that were pruned")
        try await old.write { database in
            try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
            try database.execute(sql: "INSERT INTO hub VALUES (1, 'hub', '{\"rules\":[]}', 1, 1)")
        }
        try old.close()
        let storage = try await SQLiteStorage.open(folder.file("hub.db"))
        #expect(try await storage.namespace.load().hubs.map(\.name) == ["hub"])
        #expect(try await storage.keyValues.names() == [])
        #expect(try await storage.auditTrail.verify() == .intact(.start))
        try await storage.keyValues.space("plugin").put(1, for: "k")
        #expect(try await storage.keyValues.space("plugin").value("k") == 1)
        try await storage.close()
    }

    @Test func `Slots of many keys are taken in one transaction, all or none`() async throws {
        let bench = try await Bench()
        let space = bench.storage.keyValues.space("plugin")
        let keys = (0..<1000).map { "device-\($0)" }
        try await bench.execute(
            "CREATE TRIGGER full BEFORE INSERT ON key_value WHEN NEW.key = x'\("device-998".utf8.map { String($0, radix: 16) }.joined())' "
                + "BEGIN SELECT RAISE(ABORT, 'full'); END")
        #expect(await refusal { try await space.take(keys, "1", of: 1) }?.code == "storage.conflict")
        #expect(try await bench.integer("SELECT count(*) FROM key_value") == 0)
        #expect(try await space.usage() == KeyValueUsage())
        try await bench.execute("DROP TRIGGER full")
        #expect(try await space.take(keys, "2", of: 1) == keys.map { _ in true })
        #expect(try await space.take(keys, "3", of: 1) == keys.map { _ in false })
        #expect(try await space.usage().entries == 1000)
        // A repeated request writes nothing.
        let written = try bench.folder.bytes(of: "hub.db-wal")
        #expect(try await space.take(keys, "3", of: 1) == keys.map { _ in false })
        #expect(try bench.folder.bytes(of: "hub.db-wal") == written)
        try await bench.storage.close()
    }

    @Test func `A rejection by a full space writes nothing and does not affect other changes`() async throws {
        let bench = try await Bench()
        let database = bench.storage.database
        let space = SQLiteKeyValueSpaces(database: database, quota: KeyValueQuota(entries: 1, bytes: 100)).space("plugin")
        try await space.put(1, for: "a")
        let before = try bench.folder.bytes(of: "hub.db-wal").count
        #expect(await refusal { try await space.take(["b"], "t") }?.code == "kv.full")
        #expect(try bench.folder.bytes(of: "hub.db-wal").count == before)
        let store = bench.store
        let (accepted, refused) = (try Samples.notification(1), startTime)
        let results = await outcomes([
            { _ = try await store.accept(accepted) },
            { _ = try await space.put(1, for: "b", expires: nil, if: .always, now: refused) },
        ])
        #expect(results.map { $0?.code } == [nil, "kv.full"])
        try await bench.storage.close()
    }

    @Test func `The error for an unreadable entry names it`() async throws {
        let (now, name) = (startTime, "of the space \"plugin\"")
        let rows: [(sql: String, name: String, read: @Sendable (any KeyValueStore) async throws -> Void)] = [
            ("content = x'7B'", "the entry \"k\" \(name)", { _ = try await $0.value("k", now: now) }),
            ("content = x'7B'", "the entry \"k\" \(name)", { _ = try await $0.values(["k"], now: now) }),
            ("content = x'7B'", "the entry \"k\" \(name)", { _ = try await $0.add(1, to: "k", expiresIfNew: nil, now: now) }),
            ("content = substr(content, 2)", "the entry \"d\" \(name)", { _ = try await $0.take(["x", "d"], "2") }),
            ("key = x'FE'", "a key \(name)", { _ = try await $0.keys(prefix: "", after: nil, limit: 9, now: now) }),
        ]
        for (sql, name, read) in rows {
            let bench = try await filled()
            let space = bench.storage.keyValues.space("plugin")
            try await bench.execute("DROP INDEX key_value_by_key; UPDATE key_value SET \(sql)")
            let error = await refusal { try await read(space) }
            #expect(error?.code == "storage.corrupt", "\(sql)")
            #expect(error?.message.hasPrefix(name) == true, "\(error?.message ?? "") for \(sql)")
            // Storing another value under the key works.
            try await space.put(1, for: "k")
            try await bench.storage.close()
        }
    }

    @Test func `Entries are looked up by index, without a scan`() async throws {
        let bench = try await Bench()
        let plans = [
            ("SELECT 1 FROM key_value WHERE space = 1 AND kind = 0 AND key = x'00'", "key_value_by_key"),
            (
                "SELECT key FROM key_value WHERE space = 1 AND kind = 0 AND key >= x'00' AND key < x'FF' ORDER BY key LIMIT 1",
                "key_value_by_key"
            ),
            ("SELECT id FROM key_value WHERE space = 1 AND expiration <= 7 ORDER BY expiration LIMIT 1", "key_value_by_expiration"),
            ("SELECT 1 FROM key_value_space WHERE name = 'a'", "sqlite_autoindex_key_value_space"),
        ]
        for (sql, index) in plans {
            let plan = try await bench.storage.database.read { try $0.all("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) } }
            #expect(plan.count == 1 && plan[0].contains("SEARCH") && plan[0].contains(index), "\(plan)")
        }
        try await bench.storage.close()
    }
}
