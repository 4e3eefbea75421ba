import PushModel
import Support
import Testing

@testable import Storage

@Suite struct PostgreSQLStorageTests {
    @Test func `What was stored is there after the database was closed and opened again`() async throws {
        try await PostgreSQLBench.run { bench in
            try await bench.storage.namespace.putHub(Samples.hub(1))
            try await bench.store.commit(RegistrationChange(puts: [Samples.put(3, 1)]))
            _ = try await bench.store.accept(try Samples.notification(1))
            await bench.storage.close()
            let again = try await PostgreSQLStorage.open(bench.address, seal: .test)
            #expect(try await again.namespace.load().hubs == [Samples.hub(1)])
            #expect(try await again.namespace.store(ofHub: 1).load().registrations == [Samples.put(3, 1)])
            #expect(try await again.namespace.store(ofHub: 1).notification(1) == (try Samples.notification(1)))
            await again.close()
        }
    }

    @Test func `A database with the secrets of another key is rejected`() async throws {
        try await PostgreSQLBench.run { bench in
            let error = await refusal { try await PostgreSQLStorage.open(bench.address, seal: .keyed(8)) }
            #expect(error?.code == "storage.sealed" && error?.status == 409)
        }
    }

    @Test func `A database that cannot be reached is unavailable, without its password`() async throws {
        let folder = try PostgreSQLServer.running().folder
        let address = try PostgreSQLAddress("postgres://tester:s3cret@/postgres?host=\(folder)/none")
        let error = await refusal { try await PostgreSQLStorage.open(address, seal: .test) }
        #expect(error?.code == "storage.unavailable" && error?.status == 503 && error?.isRetryable == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func `A removed hub leaves no row behind`() async throws {
        try await PostgreSQLBench.run { bench in
            for number in Int64(1)...2 {
                try await bench.storage.namespace.putHub(Samples.hub(number))
                let store = bench.storage.namespace.store(ofHub: number)
                var put = Samples.put(1, 1)
                put.registration.description.template = try Samples.templates()[0]
                try await store.commit(
                    RegistrationChange(
                        removals: [Samples.removal(9, 9)], puts: [put],
                        installationPuts: [
                            InstallationRow(row: 0, installation: try Samples.installation(), expiration: .distantFuture)
                        ]))
                _ = try await store.accept(try Samples.notification(1))
                try await store.record(try Samples.ended(1, devices: [Samples.device(1)], lastOutcomes: [1: .success]))
            }
            try await bench.storage.namespace.removeHub(1)
            for (table, _) in PostgreSQLSchema.tablesOfHub {
                #expect(try await bench.integer("SELECT count(*) FROM \(table) WHERE hub = 1") == 0, "\(table)")
            }
            #expect(try await bench.integer("SELECT count(*) FROM leaving_hub") == 0)
            #expect(try await bench.integer("SELECT count(*) FROM registration WHERE hub = 2") == 1)
            #expect(try await bench.integer("SELECT count(*) FROM template WHERE hub = 2") == 1)
        }
    }

    @Test func `Every table with data of a hub is emptied when the hub is removed`() async throws {
        try await PostgreSQLBench.run { bench in
            let listed = Set(PostgreSQLSchema.tablesOfHub.map(\.0))
            let found = try await blocking { [address = bench.address] in
                try PostgreSQLConnection(to: address, PostgreSQLLimits()).all(
                    """
                    SELECT table_name::text FROM information_schema.columns
                    WHERE table_schema = current_schema() AND column_name = 'hub' AND data_type = 'bigint'
                    """
                ) { $0.text(0) }
            }
            #expect(Set(found) == listed)
        }
    }

    @Test func `Unreadable rows are reported, and the others are loaded`() async throws {
        try await PostgreSQLBench.run { bench in
            try await bench.store.commit(
                RegistrationChange(
                    removals: [Samples.removal(9, 9)], puts: (0..<3).map { Samples.put($0, Int($0)) },
                    installationPuts: [
                        InstallationRow(row: 0, installation: try Samples.installation("a"), expiration: .distantFuture),
                        InstallationRow(row: 1, installation: try Samples.installation("b"), expiration: .distantFuture),
                    ]))
            _ = try await bench.store.accept(try Samples.notification(1))
            try await bench.execute(
                "UPDATE registration SET platform = 'pager' WHERE place = 2", "UPDATE installation SET content = '[]' WHERE place = 1",
                "UPDATE departure SET reason = 'bored'", "UPDATE notification SET request = '{'")
            let stored = try await bench.store.load()
            #expect(stored.unreadable.map(\.table) == [.installations, .registrations, .tombstones])
            #expect(stored.unreadable.map(\.row) == [1, 2, nil])
            #expect(stored.registrations.map(\.row) == [0, 1] && stored.installations.map(\.row) == [0])
            for read: Work in [
                { _ = try await bench.store.registrations(at: [0, 2]) }, { _ = try await bench.store.installations(at: [1]) },
                { _ = try await bench.store.unfinished(after: 0, limit: 9) },
            ] {
                #expect(await refusal { try await read() }?.code == "storage.corrupt")
            }
        }
    }

    @Test func `Registrations that exchange their rows are stored`() async throws {
        try await PostgreSQLBench.run { bench in
            try await bench.store.commit(RegistrationChange(puts: [Samples.put(1, 1), Samples.put(2, 2), Samples.put(3, 3)]))
            try await bench.store.commit(
                RegistrationChange(puts: [Samples.put(1, 2, etag: 5), Samples.put(2, 1), Samples.put(3, 3, etag: 4)]))
            #expect(
                try await bench.store.load().registrations == [Samples.put(1, 2, etag: 5), Samples.put(2, 1), Samples.put(3, 3, etag: 4)])
            // The row that has the same id elsewhere is replaced.
            try await bench.store.commit(RegistrationChange(puts: [Samples.put(7, 3, etag: 6)]))
            #expect(try await bench.store.load().registrations.map(\.row) == [1, 2, 7])
        }
    }

    @Test func `More rows than a page are loaded in order`() async throws {
        try await PostgreSQLBench.run { bench in
            let count = UInt32(2 * PostgreSQLRegistrationTable.page + 1)
            try await bench.store.commit(RegistrationChange(puts: (0..<count).map { Samples.put($0, Int($0)) }))
            #expect(try await bench.store.load().registrations.map(\.row) == Array(0..<count))
        }
    }

    @Test func `Entries of the audit trail cannot be changed or removed`() async throws {
        try await PostgreSQLBench.run { bench in
            _ = try await bench.storage.auditTrail.append(AuditRecord(time: HubBench.startTime, actor: "a", action: "b", subject: "c"))
            let database = bench.storage.database
            for sql in ["UPDATE audit_entry SET actor = 'x'", "DELETE FROM audit_entry", "TRUNCATE audit_entry"] {
                #expect(
                    await refusal { try await database.write { try $0.run(sql) } }?.message.contains("permission denied") == true, "\(sql)")
            }
            #expect(try await bench.storage.auditTrail.entries(after: 0, limit: 9, AuditFilter()).count == 1)
        }
    }

    @Test func `Backups are left to the means of the server`() async throws {
        try await PostgreSQLBench.run { bench in
            let errors = [
                await refusal { try bench.storage.backup(to: "/tmp/never") },
                await refusal { try await bench.storage.restore(from: "/tmp/never") },
            ]
            #expect(errors.allSatisfy { $0?.status == 400 && $0?.message.contains("PostgreSQL") == true })
            try await bench.storage.checkWriting()
            #expect(bench.storage.damage == nil)
        }
    }
}
