import PushModel
import Support
import Synchronization
import Testing

@testable import Storage

@Suite struct CrashedServerTests {
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// Returns whether the notification is confirmed to be stored.
    private static func accept(_ number: Int64, by store: any HubStore) async throws -> Bool {
        let notification = try Samples.notification(number, key: "key-\(number)")
        do throws(PushError) {
            let result = try await store.accept(notification)
            #expect(result == .accepted || result == .repeated(notification))
            return true
        } catch {
            #expect(error.code == "storage.unavailable" && error.isRetryable, "\(error)")
            return false
        }
    }

    @Test func `A crash of the server loses nothing that was confirmed, and repeated sends are stored once`() async throws {
        let server = try await PostgreSQLServer.own()
        try await server.withSchema { address in
            let storage = try await PostgreSQLStorage.open(address, seal: .test)
            let store = storage.namespace.store(ofHub: 1)
            let (writers, each) = (8 as Int64, 60 as Int64)
            let confirmed = Count()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for index in 0..<each {
                            let number = writer * each + index + 1
                            // A client repeats what it got no confirmation for.
                            try await until { try await Self.accept(number, by: store) }
                            confirmed.value.add(1, ordering: .relaxed)
                        }
                    }
                }
                for share in [1, 2] {
                    try await until { confirmed.value.load(ordering: .relaxed) > share * 100 }
                    try await server.crash()
                }
                try await group.waitForAll()
            }
            #expect(try await store.unfinished(after: 0, limit: 9999).map(\.sequence) == Array(1...writers * each))
            await storage.close()
        }
    }

    @Test func `A lost process of the server is replaced, and there are never more than there are connections`() async throws {
        let server = try await PostgreSQLServer.own()
        try await server.withSchema { address in
            var limits = PostgreSQLLimits()
            (limits.readers, limits.answer, limits.statement) = (2, 5_000, 60_000)
            let storage = try await PostgreSQLStorage.open(address, seal: .test, limits)
            for _ in 0..<2 {
                let errors = await outcomes(
                    (0..<3).map { number in
                        {
                            if number == 0 {
                                _ = try await storage.database.write { try $0.run("SELECT pg_sleep(100)") }
                            } else {
                                _ = try await storage.database.read { try $0.run("SELECT pg_sleep(100)") }
                            }
                        }
                    })
                #expect(errors.allSatisfy { $0?.code == "storage.unavailable" })
            }
            try await storage.checkWriting()
            _ = try await storage.runs.events(limit: 1)
            let superuser = try server.address()
            let left = try await blocking {
                try PostgreSQLConnection(to: superuser, PostgreSQLLimits()).all(
                    "SELECT state || ' ' || query FROM pg_stat_activity WHERE usename = 'server'"
                ) { $0.text(0) }
            }
            #expect(left.count <= 3, "\(left)")
            await storage.close()
        }
    }
}
