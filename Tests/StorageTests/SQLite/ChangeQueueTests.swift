import GRDB
import PushModel
import Support
import Synchronization
import Testing

@testable import Storage

@Suite struct ChangeQueueTests {
    /// Blocks the writer while `work` is started, so that all of it shares a transaction.
    private func together(_ bench: Bench, _ work: [Work]) async throws -> [PushError?] {
        let (isReached, reached) = AsyncStream<Void>.makeStream()
        let gate = Gate()
        async let blocked: Void = bench.storage.database.pool.writeWithoutTransaction { _ in
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

    @Test func `A change that SQLite rejects does not affect others in its transaction`() async throws {
        let bench = try await Bench()
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
    }

    @Test func `A change that is rejected before it writes fails alone`() async throws {
        let bench = try await Bench()
        let (store, payloads) = (bench.store, bench.storage.securePayloads)
        let payload = SealedPayload(id: "1", sender: try Tag("a"), recipient: try Tag("b"), expiration: .distantFuture, sealed: [1])
        _ = try await payloads.insert(payload, limit: 1, ofSender: 1)
        let results = try await together(
            bench,
            (1...8).map { number in
                {
                    guard number == 4 else {
                        _ = try await store.accept(try Samples.notification(Int64(number)))
                        return
                    }
                    _ = try await payloads.update("1") { payload throws(PushError) -> Void in
                        payload.end(.revoked)
                        throw PushError("test", "no")
                    }
                }
            })
        #expect(results.map { $0?.code } == [nil, nil, nil, "test", nil, nil, nil, nil])
        #expect(try await bench.sequences() == [1, 2, 3, 5, 6, 7, 8])
        #expect(try await payloads.payload("1")?.isLive == true)
    }

    @Test func `A change that fails halfway is undone, and others in its transaction are stored`() async throws {
        let bench = try await Bench()
        let (database, store) = (bench.storage.database, bench.store)
        let results = try await together(
            bench,
            [
                { _ = try await store.accept(try Samples.notification(1)) },
                {
                    try await database.write { database in
                        try database.run("DELETE FROM notification")
                        throw PushError("test", "no")
                    }
                },
                { _ = try await store.accept(try Samples.notification(2)) },
            ])
        #expect(results.map { $0?.code } == [nil, "test", nil])
        #expect(try await bench.sequences() == [1, 2])
    }

    @Test func `After a rollback the template of a registration is stored with the next one`() async throws {
        let bench = try await Bench()
        var put = Samples.put(0, 1)
        put.registration.description.template = try Samples.templates()[0]
        let change = RegistrationChange(puts: [put])
        let templates = bench.storage.database.templates
        let template = try #require(put.registration.template)
        let error = await refusal {
            try await bench.storage.database.write { database in
                _ = try templates.key(of: template, in: database)
                throw PushError("test", "no")
            }
        }
        #expect(error?.code == "test")
        try await bench.store.commit(change)
        #expect(try await bench.store.load().registrations == [put])
    }

    @Test func `On a full disk no change is half written, and writing works again once there is space`() async throws {
        let bench = try await Bench()
        let (store, pages) = (bench.store, try #require(try await bench.integer("PRAGMA page_count")))
        try await bench.execute("PRAGMA max_page_count = \(pages + 8)")
        let puts = (0..<2000).map { Samples.put(UInt32($0), $0) }
        let error = await refusal { try await store.commit(RegistrationChange(removals: [Samples.removal(0, 5000)], puts: puts)) }
        #expect(error?.code == "storage.unavailable")
        #expect(error?.status == 503 && error?.isRetryable == true)
        #expect(error?.message.hasSuffix("the disk is full") == true)
        #expect(try await store.load() == StoredHub())
        // In a transaction with small changes only the large one fails.
        let results = try await together(
            bench,
            [
                { _ = try await store.accept(try Samples.notification(1)) }, { try await store.commit(RegistrationChange(puts: puts)) },
                { _ = try await store.accept(try Samples.notification(2)) },
            ])
        #expect(results.map { $0?.code } == [nil, "storage.unavailable", nil])
        try await bench.execute("PRAGMA max_page_count = 100000")
        try await store.commit(RegistrationChange(puts: puts))
        #expect(try await store.load().registrations == puts)
        #expect(try await bench.sequences() == [1, 2])
    }

    @Test func `A database that cannot be written can be read, and is reported as read-only`() async throws {
        let bench = try await Bench()
        _ = try await bench.store.accept(try Samples.notification(1))
        try await bench.execute("PRAGMA query_only = 1")
        let error = await refusal { try await bench.store.accept(try Samples.notification(2)) }
        #expect(error?.code == "storage.unavailable")
        #expect(error?.message.hasSuffix("the file is read-only") == true)
        #expect(try await bench.sequences() == [1])
        try await bench.execute("PRAGMA query_only = 0")
        #expect(try await bench.store.accept(try Samples.notification(2)) == .accepted)
    }

    @Test func `Changes in one transaction are flushed to disk together`() async throws {
        let bench = try await Bench()
        let store = bench.store
        let before = try bench.folder.bytes(of: "hub.db-wal").count
        let work: [Work] = (1...64).map { number in
            { _ = try await store.accept(try Samples.notification(Int64(number))) }
        }
        let results = try await together(bench, work)
        #expect(results.allSatisfy { $0 == nil })
        #expect(try await bench.sequences() == Array(1...64))
        // Alone, each change would write its pages again.
        let after = try bench.folder.bytes(of: "hub.db-wal").count
        #expect(after - before < 64 * 4 * 4096)
    }

    @Test func `If no transaction can start, all changes in it fail with its error`() async throws {
        let bench = try await Bench()
        let store = bench.store
        try await bench.execute("PRAGMA busy_timeout = 0")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: bench.folder.file("hub.db"), configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let work: [Work] = (1...8).map { number in
            { _ = try await store.accept(try Samples.notification(Int64(number))) }
        }
        let results = try await together(bench, work)
        #expect(results.allSatisfy { $0?.message.hasSuffix("in use by another program") == true && $0?.isRetryable == true })
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(await outcomes(work).allSatisfy { $0 == nil })
        #expect(try await bench.sequences() == Array(1...8))
    }

    @Test func `Old notifications are removed with any number of devices`() async throws {
        let bench = try await Bench()
        for sequence in 1...2 as ClosedRange<Int64> { _ = try await bench.store.accept(try Samples.notification(sequence)) }
        for number in 0..<50 {
            var device = Samples.device(number)
            device.isRegistrationRemoved = true
            try await bench.store.record(try Samples.ended(1, devices: [device, Samples.device(number)]))
        }
        try await bench.store.record(try Samples.ended(2, after: 9, devices: [Samples.device(1)]))
        #expect(try await bench.store.removeEnded(before: HubBench.startTime + .seconds(5), limit: 9) == 1)
        #expect(try await bench.integer("SELECT count(*) FROM outcome_batch") == 1)
        #expect(try await bench.integer("SELECT count(*) FROM dead_batch") == 0)
        #expect(try await bench.store.notifications(before: nil, limit: 9).map(\.sequence) == [2])
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        var entries: [String] { lines.withLock { $0 } }
        func add(_ entry: String) { lines.withLock { $0.append(entry) } }
    }

    @Test func `Large changes let others go first, and share a transaction up to a size limit`() async throws {
        let folder = try Folder()
        let pool = try DatabasePool(path: folder.file("queue.db"))
        let queue = ChangeQueue(pool: pool) {}
        // The changes made, with an end after each transaction.
        let log = Log()
        let gate = Gate()
        let sizes = ["small": 0, "large": 400_000, "larger": 600_000, "half": 200_000]
        @Sendable func change(_ name: String, _ work: @escaping @Sendable () -> Void = {}) async {
            let result = await queue.perform(size: sizes[name] ?? 0, isLast: name == "last") { database in
                log.add(name)
                database.afterNextTransaction { _ in
                    if log.entries.last != "end" { log.add("end") }
                }
                work()
            }
            if case .failure(let error) = result { Issue.record(error) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await change("first") { gate.wait() } }
            try await until { !log.entries.isEmpty }
            for (number, name) in ["larger", "large", "half", "half", "half", "small", "last", "refused"].enumerated() {
                if name == "refused" {
                    let result = await queue.perform { _ in }
                    #expect(throws: DatabaseError.self) { try result.get() }
                    continue
                }
                group.addTask { await change(name) }
                try await until { queue.waiting > number }
            }
            gate.open()
        }
        #expect(
            log.entries == [
                "first", "end", "small", "larger", "end", "large", "end", "half", "half", "end", "half", "last", "end",
            ])
        try pool.close()
    }
}
