import Foundation
import GRDB
import PushModel
import Support
import Testing

@testable import Storage

@Suite struct SQLiteStorageTests {
    @Test func `All data survives closing and opening`() async throws {
        let bench = try await Bench()
        let change = RegistrationChange(
            removals: [Samples.removal(5, 9)],
            puts: try Samples.templates().enumerated().map { number, template in
                var registration = Samples.registration(number, tags: [try Tag("news")])
                registration.description.template = template
                registration.handle = try #require(Samples.handles.first { $0.platform == template.platform })
                return RegistrationRow(row: UInt32(number), registration: registration)
            },
            installationPuts: [InstallationRow(row: 0, installation: try Samples.installation(), expiration: .distantFuture)])
        try await bench.store.commit(change)
        _ = try await bench.store.accept(try Samples.notification(1))
        _ = try await bench.store.accept(try Samples.notification(2))
        try await bench.store.record(try Samples.ended(2, devices: [Samples.device(1)], lastOutcomes: [0: .success]))
        #expect(try await bench.store.removeEnded(before: .distantFuture, limit: 9) == 1)
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.storage.namespace.putHub(Samples.hub(2))
        try await bench.storage.namespace.removeHub(2)
        let (hub, namespace) = (try await bench.store.load(), try await bench.storage.namespace.load())
        try await bench.storage.close()
        #expect(bench.folder.files == ["hub.db"])
        let reopened = try await SQLiteStorage.open(bench.folder.file("hub.db"))
        #expect(try await reopened.namespace.store(ofHub: 1).load() == hub)
        #expect(hub.lastSequence == 2 && hub.registrations.count == 9)
        #expect(try await reopened.namespace.load() == namespace)
        #expect(namespace.lastNumber == 2)
        try await reopened.close()
    }

    @Test func `Confirmed writes survive a crash`() async throws {
        let bench = try await Bench()
        let copies = try Folder()
        for sequence in 1...20 as ClosedRange<Int64> {
            #expect(try await bench.store.accept(try Samples.notification(sequence)) == .accepted)
            // The files as a crash at this point would leave them.
            let name = "\(sequence).db"
            try copies.write(try bench.folder.bytes(of: "hub.db"), to: name)
            try copies.write(try bench.folder.bytes(of: "hub.db-wal"), to: "\(name)-wal")
            let survivor = try await SQLiteStorage.open(copies.file(name))
            #expect(try await survivor.namespace.store(ofHub: 1).load().lastSequence == sequence)
            try await survivor.close()
        }
    }

    @Test func `The write check writes to the disk and changes no data`() async throws {
        let bench = try await Bench()
        func written() throws -> Int { try Data(contentsOf: URL(filePath: bench.folder.file("hub.db-wal"))).count }
        let (before, size) = (try await bench.storage.namespace.load(), try written())
        try await bench.storage.checkWriting()
        #expect(try written() > size)
        #expect(try await bench.storage.namespace.load() == before)
    }

    @Test func `Commits are flushed to disk`() async throws {
        let bench = try await Bench()
        #expect(try await bench.integer("PRAGMA synchronous") == 2)
        #expect(try await bench.integer("SELECT 1 FROM pragma_journal_mode WHERE journal_mode = 'wal'") == 1)
        #expect(try await bench.integer("PRAGMA application_id") == Int(SQLiteSchema.applicationID))
    }

    @Test func `Only the owner can read the files`() async throws {
        let bench = try await Bench()
        _ = try await bench.store.accept(try Samples.notification(1))
        for file in ["hub.db", "hub.db-wal", "hub.db-shm"] { #expect(try bench.folder.rights(of: file) == 0o600, "\(file)") }
        try await bench.storage.backup(to: bench.folder.file("backup.db"))
        #expect(try bench.folder.rights(of: "backup.db") == 0o600)
        try await bench.storage.close()
        // The permissions of a file that others can read are restricted.
        let open = try Folder()
        try open.write([], to: "hub.db")
        #expect(try open.rights(of: "hub.db") != 0o600)
        let storage = try await SQLiteStorage.open(open.file("hub.db"))
        #expect(try open.rights(of: "hub.db") == 0o600)
        try await storage.close()
    }

    @Test func `A closed storage rejects calls, and can be closed twice`() async throws {
        let bench = try await Bench()
        let store = bench.store
        let work: [Work] = (1...8).map { number in
            { _ = try await store.accept(try Samples.notification(Int64(number))) }
        }
        _ = await outcomes(work + [{ try await bench.storage.close() }])
        try await bench.storage.close()
        #expect(await refusal { try await store.accept(try Samples.notification(99)) }?.code == "storage.unavailable")
        #expect(await refusal { try await store.load() }?.code == "storage.unavailable")
        #expect(await refusal { try await bench.storage.restore(from: "/nowhere") }?.code == "storage.not_found")
    }

    @Test func `A database of an older version is upgraded with its full content`() async throws {
        let folder = try Folder()
        let old = try DatabaseQueue(path: folder.file("hub.db"), configuration: SQLiteFile.configuration(readonly: false))
        try SQLiteSchema.migrator.migrate(old, upTo: "feedback and jobs")
        try await old.write { database in
            try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
            for (number, name) in [(1, "Hub"), (2, "hub")] {
                try database.execute(sql: "INSERT INTO hub VALUES (?, ?, '{\"rules\":[]}', 1, 1)", arguments: [number, name])
            }
            for (sequence, state, end) in [(3, "Enqueued", nil), (7, "Completed", 5)] as [(Int, String, Int?)] {
                try database.execute(
                    sql: """
                        INSERT INTO notification (hub, sequence, id, request, state, is_final, enqueued_at, ended_at)
                        VALUES (2, ?1, 'n-' || ?1, '{"everyone":true,"native":{}}', ?2, ?3 IS NOT NULL, 1, ?3)
                        """, arguments: [sequence, state, end])
            }
        }
        try await old.write { database in
            try database.execute(
                sql: "INSERT INTO secure_payload VALUES ('1', 'username:a', 'username:b', ?, NULL, x'00', 0, NULL, '[]')",
                arguments: [Int64.max])
        }
        try old.close()
        let contents = try await SQLiteStorage.contents(of: folder.file("hub.db"))
        #expect(contents.hubs == ["Hub", "hub"] && contents.payloadsByKey == [[]: 1] && contents.cheapAccounts == 0)
        let storage = try await SQLiteStorage.open(folder.file("hub.db"))
        #expect(try await storage.securePayloads.payload("1")?.keyMark == [])
        #expect(try await SQLiteStorage.contents(of: folder.file("hub.db")).payloadsByKey == [[]: 1])
        // Of two hubs with the same name the newer one keeps it.
        #expect(try await storage.namespace.load().hubs.map(\.name) == ["Hub-1", "hub"])
        let store = storage.namespace.store(ofHub: 2)
        #expect(try await store.notifications(before: nil, limit: 9).map(\.outcome.id) == ["n-7", "n-3"])
        #expect(try await store.unfinished(after: 0, limit: 9).map(\.sequence) == [3])
        #expect(try await store.notification(7)?.outcome.state == .completed)
        #expect(try await store.load().lastSequence == 7)
        #expect(try await storage.namespace.store(ofHub: 1).load() == StoredHub())
        #expect(try await store.removeEnded(before: HubBench.startTime, limit: 9) == 1)
        try await storage.close()
    }

    // MARK: - Rejected files

    @Test func `A database of a newer version is rejected and left unchanged`() async throws {
        let bench = try await Bench()
        try await bench.execute("INSERT INTO grdb_migrations (identifier) VALUES ('tables of tomorrow')")
        try await bench.storage.close()
        let before = try bench.folder.bytes(of: "hub.db")
        let error = await refusal { try await SQLiteStorage.open(bench.folder.file("hub.db")) }
        #expect(error?.code == "storage.newer_schema")
        #expect(try bench.folder.bytes(of: "hub.db") == before)
    }

    @Test func `A file of another program is rejected and left unchanged`() async throws {
        let folder = try Folder()
        try folder.write(Array("Dear diary, today I learned about databases\n".utf8), to: "text")
        for (name, sql) in [("tables", "CREATE TABLE a (b)"), ("number", "PRAGMA application_id = 7")] {
            let queue = try DatabaseQueue(path: folder.file(name))
            try await queue.write { try $0.execute(sql: sql) }
            try queue.close()
        }
        for name in ["text", "tables", "number"] {
            let before = try folder.bytes(of: name)
            let error = await refusal { try await SQLiteStorage.open(folder.file(name)) }
            #expect(error?.code == "storage.foreign_file", "\(name)")
            #expect(error?.message.contains(folder.file(name)) == true)
            #expect(try folder.bytes(of: name) == before)
        }
        #expect(folder.files == ["number", "tables", "text"])
    }

    @Test func `The error for a file that cannot be created contains its path`() async throws {
        let error = await refusal { try await SQLiteStorage.open("/nowhere/hub.db") }
        #expect(error?.code == "storage.unavailable")
        #expect(error?.status == 503)
        #expect(error?.message == "the file /nowhere/hub.db cannot be created: no such file or directory")
    }

    // MARK: - Rows

    @Test func `The error for an unreadable row names the row`() async throws {
        let rows: [(String, String, @Sendable (Bench) async throws -> Void)] = [
            ("UPDATE notification SET state = 'Lost'", "the notification 1 of hub 1", { _ = try await $0.sequences() }),
            (
                "UPDATE notification SET request = '{'", "the notification 1 of hub 1",
                { _ = try await $0.store.notification(1) }
            ),
            ("UPDATE registration SET tags = 'a b'", "the registration \(Samples.id(1)) of hub 1", { try await $0.loadAll() }),
            ("UPDATE registration SET platform = 'pager'", "the registration", { try await $0.loadAll() }),
            ("UPDATE registration SET template = 77", "the registration", { try await $0.loadAll() }),
            ("UPDATE template SET content = '{}'", "the template 1", { try await $0.loadAll() }),
            ("UPDATE departure SET reason = 'bored'", "the departure of \(Samples.id(9))", { try await $0.loadAll() }),
            ("UPDATE installation SET content = '[]'", "the installation 0 of hub 1", { try await $0.loadAll() }),
            (
                "UPDATE outcome_batch SET content = CAST(x'00' || content AS BLOB)", "the devices from 0 on of notification 1 of hub 1",
                { _ = try await $0.store.devices(ofNotification: 1, from: 0, limit: 9) }
            ),
            (
                "UPDATE outcome_batch SET count = 2", "the devices from 0 on of notification 1 of hub 1",
                { _ = try await $0.store.devices(ofNotification: 1, from: 1, limit: 9) }
            ),
            (
                "UPDATE dead_batch SET ordinals = x'0001'", "the removed devices from 0 on of notification 1 of hub 1",
                { _ = try await $0.store.removedDevices(after: nil, limit: 9) }
            ),
            (
                "UPDATE dead_batch SET content = x''", "the removed devices from 0 on of notification 1 of hub 1",
                { _ = try await $0.store.removedDevices(after: nil, limit: 9) }
            ),
            ("UPDATE hub SET description = '{}'", "hub 1", { _ = try await $0.storage.namespace.load() }),
            ("UPDATE secure_payload SET ending = 'x'", "the secure payload 1", { _ = try await $0.storage.securePayloads.payload("1") }),
        ]
        for (sql, name, reading) in rows {
            let bench = try await Bench()
            var registration = Samples.registration(1, tags: [try Tag("a")])
            registration.description.template = try Samples.templates()[0]
            try await bench.store.commit(
                RegistrationChange(
                    removals: [Samples.removal(5, 9)], puts: [RegistrationRow(row: 0, registration: registration)],
                    installationPuts: [
                        InstallationRow(row: 0, installation: try Samples.installation(), expiration: .distantFuture)
                    ]))
            _ = try await bench.store.accept(try Samples.notification(1))
            var device = Samples.device(1)
            device.isRegistrationRemoved = true
            try await bench.store.record(try Samples.ended(1, state: .processing, devices: [device]))
            try await bench.storage.namespace.putHub(Samples.hub(1))
            let payload = SealedPayload(
                id: "1", sender: try Tag("a"), recipient: try Tag("b"), expiration: .distantFuture, sealed: [1])
            _ = try await bench.storage.securePayloads.insert(payload, limit: 1, ofSender: 1)
            try await bench.execute(sql)
            let error = await refusal { try await reading(bench) }
            #expect(error?.code == "storage.corrupt", "\(sql)")
            #expect(error?.message.hasPrefix(name) == true, "\(error?.message ?? "") for \(sql)")
            try await bench.storage.close()
        }
    }

    @Test func `A template is stored once, and deleted when it is not used any more`() async throws {
        let bench = try await Bench()
        let template = try Samples.templates()[0]
        let puts = (0..<50).map { number in
            var put = Samples.put(UInt32(number), number)
            put.registration.description.template = template
            return put
        }
        for put in puts { try await bench.store.commit(RegistrationChange(puts: [put])) }
        #expect(try await bench.integer("SELECT count(*) FROM template") == 1)
        #expect(try await bench.store.load().registrations == puts)
        let without = puts.map { Samples.put($0.row, Int($0.row), etag: 2) }
        try await bench.store.commit(RegistrationChange(puts: Array(without.dropLast())))
        #expect(try await bench.integer("SELECT count(*) FROM template") == 1)
        try await bench.store.commit(RegistrationChange(puts: [without[49]]))
        #expect(try await bench.integer("SELECT count(*) FROM template") == 0)
        // The cached row of the deleted template is not used.
        try await bench.store.commit(RegistrationChange(puts: puts))
        #expect(try await bench.store.load().registrations == puts)
        try await bench.storage.close()
    }

    @Test func `Templates that change again and again leave nothing behind`() async throws {
        let bench = try await Bench()
        func put(_ number: Int, at row: UInt32 = 0) throws -> RegistrationRow {
            var put = Samples.put(row, Int(row), etag: number)
            let body = #"{"a":""# + String(repeating: "x", count: 50_000) + "\(number)\"}"
            put.registration.description.template = try RegistrationTemplate(body: body, platform: .apns)
            return put
        }
        for number in 1...100 { try await bench.store.commit(RegistrationChange(puts: [try put(number)])) }
        #expect(try await bench.integer("SELECT count(*) FROM template") == 1)
        // Rows of deleted templates are reused.
        #expect(try #require(try await bench.integer("PRAGMA page_count")) < 200)
        // A registration is removed with its template, and another one gets that template in the same change.
        try await bench.store.commit(RegistrationChange(removals: [Samples.removal(0, 0)], puts: [try put(100, at: 1)]))
        #expect(try await bench.store.load().registrations == [try put(100, at: 1)])
        // A change that is rolled back, with its removals and additions.
        try await bench.execute("CREATE TRIGGER full BEFORE INSERT ON installation BEGIN SELECT RAISE(ABORT, 'full'); END")
        let installation = InstallationRow(row: 0, installation: try Samples.installation(), expiration: .distantFuture)
        let change = RegistrationChange(puts: [try put(101, at: 1), try put(102, at: 2)], installationPuts: [installation])
        #expect(await refusal { try await bench.store.commit(change) } != nil)
        #expect(try await bench.store.load().registrations == [try put(100, at: 1)])
        try await bench.execute("DROP TRIGGER full")
        try await bench.store.commit(change)
        #expect(try await bench.store.load().registrations == [try put(101, at: 1), try put(102, at: 2)])
        #expect(try await bench.integer("SELECT count(*) FROM template") == 2)
        try await bench.store.commit(RegistrationChange(removals: [Samples.removal(1, 1), Samples.removal(2, 2)]))
        #expect(try await bench.integer("SELECT count(*) FROM template") == 0)
        try await bench.storage.close()
    }

    @Test func `Templates are removed with their hub, and unused ones at the next start`() async throws {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(2))
        let puts = try (0..<250).map { number in
            var put = Samples.put(UInt32(number), number)
            put.registration.description.template = try RegistrationTemplate(body: "{\"a\":\"\(number)\"}", platform: .apns)
            return put
        }
        try await bench.store.commit(RegistrationChange(puts: Array(puts.prefix(3))))
        try await bench.storage.namespace.store(ofHub: 2).commit(RegistrationChange(puts: puts))
        try await bench.storage.namespace.removeHub(2)
        #expect(try await bench.integer("SELECT count(*) FROM template") == 3)
        // The cached rows of the first hub's templates are still valid, the others are not.
        try await bench.store.commit(RegistrationChange(puts: puts))
        #expect(try await bench.store.load().registrations == puts)
        try await bench.execute("DELETE FROM registration WHERE place < 120")
        try await bench.storage.close()
        let reopened = try await SQLiteStorage.open(bench.folder.file("hub.db"))
        #expect(try await reopened.database.read { try $0.first("SELECT count(*) FROM template") { $0.integer(0) } } == 130)
        #expect(try await reopened.namespace.store(ofHub: 1).load().registrations == Array(puts.dropFirst(120)))
        try await reopened.close()
    }

    @Test func `Registrations of a template are looked up by index, without a scan`() async throws {
        let bench = try await Bench()
        let plan = try await bench.storage.database.read { database in
            try database.all("EXPLAIN QUERY PLAN SELECT 1 FROM registration WHERE template = 1") { $0.text(3) }
        }
        #expect(plan.count == 1 && plan[0].contains("registration_by_template"), "\(plan)")
        try await bench.storage.close()
    }

    @Test func `A removal of a hub that a crash interrupted is completed at the next start`() async throws {
        let bench = try await Bench()
        try await bench.store.commit(RegistrationChange(puts: [Samples.put(0, 1)]))
        try await bench.execute("INSERT INTO leaving_hub VALUES (1)")
        try await bench.storage.close()
        let reopened = try await SQLiteStorage.open(bench.folder.file("hub.db"))
        #expect(try await reopened.namespace.store(ofHub: 1).load() == StoredHub())
        try await reopened.close()
    }
}
