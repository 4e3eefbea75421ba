import PushModel
import Support
import Testing

@testable import Storage

@Suite struct PostgreSQLMigratorTests {
    private static let steps = PostgreSQLSchema.steps

    /// A further version that the version before can bear down to `bearableBy`.
    private static func next(bearableBy: Int64, _ statements: String...) -> PostgreSQLSchema.Step {
        PostgreSQLSchema.Step(bearableBy: bearableBy, statements: statements)
    }

    /// Migrates as a program with these steps.
    private func migrate(_ address: PostgreSQLAddress, _ steps: [PostgreSQLSchema.Step]) async -> PushError? {
        await refusal {
            do {
                try await blocking {
                    let connection = try PostgreSQLConnection(to: address, PostgreSQLLimits())
                    try PostgreSQLMigrator(database: "db", steps: steps).migrate(connection, .test)
                }
            } catch {
                throw PushError(error, postgreSQL: "db")
            }
        }
    }

    @Test func `Programs that start together create the tables once`() async throws {
        try await PostgreSQLServer.running().withSchema { address in
            let errors = await outcomes((0..<6).map { _ in { if let error = await migrate(address, Self.steps) { throw error } } })
            #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
            let storage = try await PostgreSQLStorage.open(address, seal: .test)
            #expect(try await storage.namespace.load() == StoredNamespace())
            await storage.close()
        }
    }

    @Test func `A program of the version before works with tables that it can bear, and refuses others`() async throws {
        try await PostgreSQLServer.running().withSchema { address in
            let known = Int64(Self.steps.count)
            #expect(await migrate(address, Self.steps) == nil)
            let added = Self.next(bearableBy: known, "ALTER TABLE hub ADD COLUMN region text")
            #expect(await migrate(address, Self.steps + [added]) == nil)
            #expect(await migrate(address, Self.steps) == nil)
            let storage = try await PostgreSQLStorage.open(address, seal: .test)
            try await storage.namespace.putHub(Samples.hub(1))
            await storage.close()
            let removed = Self.next(bearableBy: known + 1, "ALTER TABLE hub ALTER COLUMN region SET DEFAULT ''")
            #expect(await migrate(address, Self.steps + [added, removed]) == nil)
            let error = await migrate(address, Self.steps)
            #expect(error?.code == "storage.newer_schema" && error?.status == 500)
            #expect(error?.message.contains("version \(known + 2)") == true && error?.hint == "install the newer version")
        }
    }

    @Test func `A database that cannot store every text is rejected with the way to create one that can`() async throws {
        let server = try PostgreSQLServer.running()
        try await server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        let address = try PostgreSQLAddress("postgres://tester@/latin?host=\(server.folder)")
        let error = await refusal { try await PostgreSQLStorage.open(address, seal: .test) }
        #expect(error?.code == "storage.unavailable" && error?.status == 400 && error?.isRetryable == false)
        #expect(error?.message.contains("LATIN1") == true && error?.hint?.contains("UTF8") == true)
    }

    @Test func `A step that fails changes nothing`() async throws {
        try await PostgreSQLServer.running().withSchema { address in
            #expect(await migrate(address, Self.steps) == nil)
            let broken = Self.next(bearableBy: 1, "ALTER TABLE hub ADD COLUMN region text", "ALTER TABLE missing ADD COLUMN a text")
            #expect(await migrate(address, Self.steps + [broken])?.code == "storage.unavailable")
            let mended = Self.next(bearableBy: 1, "ALTER TABLE hub ADD COLUMN region text")
            #expect(await migrate(address, Self.steps + [mended]) == nil)
        }
    }
}
