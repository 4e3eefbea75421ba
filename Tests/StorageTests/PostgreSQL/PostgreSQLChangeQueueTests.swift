import PushModel
import Support
import Testing

@testable import Storage

@Suite struct PostgreSQLChangeQueueTests {
    /// Blocks the writer while `work` is started, so that all of it shares a transaction.
    private func together(_ bench: PostgreSQLBench, _ work: [Work]) async throws -> [PushError?] {
        let (isReached, reached) = AsyncStream<Void>.makeStream()
        let gate = Gate()
        async let blocked: Void = bench.storage.database.write { _ in
            reached.finish()
            gate.wait()
        }
        for await _ in isReached {}
        async let results = outcomes(work)
        try await until { bench.storage.database.queue.waiting == work.count }
        gate.open()
        try await blocked
        return await results
    }

    @Test func `Notifications that wait share a transaction`() async throws {
        try await PostgreSQLBench.run { bench in
            let store = bench.store
            let results = try await together(
                bench, (1...200).map { number in { _ = try await store.accept(try Samples.notification(number)) } })
            #expect(results.allSatisfy { $0 == nil })
            #expect(try await bench.sequences() == Array(1...200))
            #expect(try await bench.integer("SELECT count(DISTINCT xmin::text) FROM notification") == 1)
        }
    }

    @Test func `A notification that conflicts does not affect others in its transaction`() async throws {
        try await PostgreSQLBench.run { bench in
            let store = bench.store
            let results = try await together(
                bench,
                (1...16).map { number in
                    { _ = try await store.accept(try Samples.notification(number == 9 ? 8 : Int64(number), id: "id-\(number)")) }
                })
            // Two have the same sequence, and the later one is rejected.
            #expect(results.count { $0 != nil } == 1)
            #expect((results[7] ?? results[8])?.code == "storage.conflict")
            #expect(try await bench.sequences() == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16])
            #expect(try await bench.integer("SELECT count(DISTINCT xmin::text) FROM notification") == 1)
        }
    }

    @Test func `A change that is rejected before it writes fails alone`() async throws {
        try await PostgreSQLBench.run { bench in
            let (store, database) = (bench.store, bench.storage.database)
            let results = try await together(
                bench,
                (1...8).map { number in
                    {
                        guard number == 4 else {
                            _ = try await store.accept(try Samples.notification(Int64(number)))
                            return
                        }
                        try await database.write { connection in
                            _ = try connection.first("SELECT 1") { $0.integer(0) }
                            throw PushError("test", "no")
                        }
                    }
                })
            #expect(results.map { $0?.code } == [nil, nil, nil, "test", nil, nil, nil, nil])
            #expect(try await bench.sequences() == [1, 2, 3, 5, 6, 7, 8])
            #expect(try await bench.integer("SELECT count(DISTINCT xmin::text) FROM notification") == 1)
        }
    }

    @Test func `A change that fails halfway is undone, and others in its transaction are stored`() async throws {
        try await PostgreSQLBench.run { bench in
            let (database, store) = (bench.storage.database, bench.store)
            let results = try await together(
                bench,
                [
                    { _ = try await store.accept(try Samples.notification(1)) },
                    {
                        try await database.write { connection in
                            connection.later("DELETE FROM notification")
                            throw PushError("test", "no")
                        }
                    },
                    { _ = try await database.write { try $0.run("INSERT INTO missing VALUES (1)") } },
                    { _ = try await store.accept(try Samples.notification(2)) },
                ])
            #expect(results.map { $0?.code } == [nil, "test", "storage.unavailable", nil])
            #expect(try await bench.sequences() == [1, 2])
        }
    }

    @Test func `A change after an idle connection was lost is stored on a new one`() async throws {
        try await PostgreSQLBench.run { bench in
            _ = try await bench.store.accept(try Samples.notification(1))
            _ = try await bench.store.notification(1)
            let name = try #require(bench.address.servers.first?.first { $0.key == "options" }?.value)
            #expect(name.contains("search_path"))
            let ended = try await bench.storage.database.write { try $0.first("SELECT pg_backend_pid()") { $0.integer(0) } }
            try await bench.execute("SELECT pg_terminate_backend(\(try #require(ended)), 10000)")
            #expect(try await bench.store.accept(try Samples.notification(2)) == .accepted)
            #expect(try await bench.sequences() == [1, 2])
        }
    }

    @Test func `A COMMIT without an answer is unknown, and its process has ended before the next change`() async throws {
        var limits = PostgreSQLLimits()
        limits.answer = 5_000
        limits.statement = 60_000
        try await PostgreSQLBench.run(limits) { bench in
            try await bench.execute(
                "CREATE TABLE slow (number bigint)",
                """
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(100); RETURN NULL; END $$
                """,
                "CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()")
            let error = await refusal { try await bench.storage.database.write { try $0.run("INSERT INTO slow VALUES (1)") } }
            #expect(error?.code == "storage.unavailable" && error?.details["outcome"] == "unknown")
            #expect(error?.message.contains("may have been stored") == true)
            #expect(try await bench.store.accept(try Samples.notification(1)) == .accepted)
            #expect(
                try await bench.integer(
                    "SELECT count(*) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active' AND wait_event = 'PgSleep'") == 0)
            #expect(try await bench.integer("SELECT count(*) FROM slow") == 0)
        }
    }

    @Test func `A closed database accepts nothing`() async throws {
        try await PostgreSQLBench.run { bench in
            let store = bench.store
            await bench.storage.close()
            #expect(await refusal { _ = try await store.accept(try Samples.notification(1)) }?.code == "storage.unavailable")
            #expect(await refusal { _ = try await store.notification(1) }?.code == "storage.unavailable")
        }
    }

    @Test func `Reads wait for a connection, and fail at once if too many do`() async throws {
        var limits = PostgreSQLLimits()
        (limits.readers, limits.waiting) = (1, 1)
        try await PostgreSQLBench.run(limits) { bench in
            let database = bench.storage.database
            let (isReached, reached) = AsyncStream<Void>.makeStream()
            let gate = Gate()
            async let first = database.read { _ in
                reached.finish()
                gate.wait()
                return 1
            }
            for await _ in isReached {}
            async let second = database.read { _ in 2 }
            try await until { database.readers.waiting == 1 }
            #expect(await refusal { try await database.read { _ in 3 } }?.code == "storage.unavailable")
            gate.open()
            #expect(try await [first, second] == [1, 2])
        }
    }
}
