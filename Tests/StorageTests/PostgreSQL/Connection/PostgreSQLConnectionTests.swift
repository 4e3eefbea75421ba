import Glibc
import PushModel
import Support
import Testing

@testable import Storage

@Suite struct PostgreSQLConnectionTests {
    private func withConnection<Value: Sendable>(
        _ limits: PostgreSQLLimits = PostgreSQLLimits(), _ work: @escaping @Sendable (PostgreSQLConnection) throws -> Value
    ) async throws -> Value {
        let address = try PostgreSQLServer.running().address()
        return try await blocking { try work(try PostgreSQLConnection(to: address, limits)) }
    }

    @Test func `Values of every type are returned unchanged`() async throws {
        try await withConnection { connection throws in
            let text = Samples.oddText
            let read = try connection.first(
                "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9", Int64.min, Int.max, UInt32.max, true, text, [UInt8](0...255), [UInt8](),
                String?.none, ""
            ) { row in
                #expect(row.integer(0) == .min && row.integer(1) == .max && row.integer(2) == Int64(UInt32.max) && row.bool(3))
                #expect(Array(row.text(4).utf8) == Array(text.utf8))
                #expect(row.bytes(5) == Array(0...255) && row.bytes(6) == [] && !row.isNull(6))
                #expect(row.isNull(7) && row.optional(7, row.text) == nil)
                #expect(row.text(8) == "" && !row.isNull(8))
                return true
            }
            #expect(read == true)
            #expect(
                try connection.first("SELECT 1::smallint, -5::int, NULL::bigint", read: { [$0.integer(0), $0.integer(1), $0.integer(2)] })
                    == [1, -5, 0])
        }
    }

    @Test func `Arrays have their elements in order, also none and NULL`() async throws {
        try await withConnection { connection throws in
            let rows = try connection.all(
                "SELECT * FROM unnest($1, $2, $3, $4)", PostgreSQLArray([1, 2, 3] as [Int64]), PostgreSQLArray(["a", nil, "\u{0}"]),
                PostgreSQLArray([[], [0], [255]] as [[UInt8]]), PostgreSQLArray([true, false, true])
            ) { row in "\(row.integer(0)) \(row.optional(1, row.text) ?? "-") \(row.bytes(2)) \(row.bool(3))" }
            #expect(rows == ["1 a [] true", "2 - [0] false", "3 \u{0} [255] true"])
            #expect(try connection.all("SELECT * FROM unnest($1)", PostgreSQLArray([Int64]())) { $0.integer(0) } == [])
        }
    }

    @Test func `Statements without a result are sent with the next one, and their errors are its errors`() async throws {
        try await withConnection { connection throws in
            try connection.run("CREATE TEMPORARY TABLE item (number bigint PRIMARY KEY)")
            let answers = connection.answers
            for number in 1...100 { connection.later("INSERT INTO item VALUES ($1)", number) }
            #expect(try connection.first("SELECT count(*) FROM item") { $0.integer(0) } == 100)
            #expect(connection.answers == answers + 1)
            connection.later("INSERT INTO item VALUES ($1)", 1)
            let error = #expect(throws: PostgreSQLError.self) { try connection.run("INSERT INTO item VALUES ($1)", 101) }
            #expect(error?.state == "23505")
            // Neither was stored, and the connection goes on, also with the statements that were prepared in vain.
            #expect(try connection.run("INSERT INTO item VALUES ($1)", 101) == 1)
            _ = #expect(throws: PostgreSQLError.self) { try connection.run("INSERT INTO missing VALUES ($1)", 1) }
            _ = #expect(throws: PostgreSQLError.self) { try connection.run("INSERT INTO missing VALUES ($1)", 1) }
            #expect(try connection.run("DELETE FROM item") == 101)
            #expect(!connection.isBroken)
        }
    }

    @Test func `Large values are sent and received`() async throws {
        try await withConnection { connection throws in
            let large = [UInt8](repeating: 9, count: 20_000_000)
            connection.later("SELECT $1", large)
            #expect(try connection.first("SELECT $1", large) { $0.bytes(0) } == large)
        }
    }

    @Test func `A transaction that throws stores nothing`() async throws {
        try await withConnection { connection throws in
            try connection.run("CREATE TEMPORARY TABLE item (number bigint PRIMARY KEY)")
            struct Stop: Error {}
            _ = #expect(throws: Stop.self) {
                try connection.transaction(.change) {
                    connection.later("INSERT INTO item VALUES (1)")
                    try connection.run("INSERT INTO item VALUES (2)")
                    throw Stop()
                }
            }
            #expect(try connection.first("SELECT count(*) FROM item") { $0.integer(0) } == 0)
            try connection.transaction(.change) { connection.later("INSERT INTO item VALUES (1)") }
            #expect(try connection.first("SELECT count(*) FROM item") { $0.integer(0) } == 1)
        }
    }

    @Test func `A server that does not answer is left for the next one`() async throws {
        let server = try PostgreSQLServer.running()
        let silent = try SilentServer()
        var limits = PostgreSQLLimits()
        limits.connecting = 200
        let both = try PostgreSQLAddress("postgres://tester@/postgres?host=127.0.0.1,\(server.folder)&port=\(silent.port),5432")
        let one = try PostgreSQLAddress("postgres://tester@127.0.0.1:\(silent.port)/postgres")
        try await blocking { [limits] () throws in
            let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLConnection(to: one, limits) }
            #expect(error?.message == "127.0.0.1:\(silent.port) does not answer" && error?.isDeadline == true)
            // A local server may need longer than the silent one was given.
            var patient = limits
            patient.connecting = 3_000
            #expect(try PostgreSQLConnection(to: both, patient).first("SELECT 1") { $0.integer(0) } == 1)
        }
    }

    @Test func `A refused connection says why`() async throws {
        let folder = try PostgreSQLServer.running().folder
        for (url, code) in [
            ("postgres://tester@/missing?host=\(folder)", "3D000"), ("postgres://ghost@/postgres?host=\(folder)", "28000"),
            ("postgres://tester@/postgres?host=\(folder)/none", ""),
        ] {
            let address = try PostgreSQLAddress(url)
            let error = try await blocking {
                #expect(throws: PostgreSQLError.self) { try PostgreSQLConnection(to: address, PostgreSQLLimits()) }
            }
            #expect(error?.state == code, "\(url): \(error?.message ?? "")")
        }
    }

    @Test func `A password comes from the URL or from a file, and a wrong one is named as the reason`() async throws {
        let server = try PostgreSQLServer.running()
        try await server.execute("CREATE ROLE guarded LOGIN PASSWORD 's3cr3t:/@'")
        let (folder, limits) = (try Folder(), PostgreSQLLimits())
        try folder.write(Array(#"*:*:*:guarded:s3cr3t\:/@"#.utf8), to: "passwords")
        #expect(chmod(folder.file("passwords"), 0o600) == 0)
        let right = try PostgreSQLAddress("postgres://guarded:s3cr3t%3A%2F%40@/postgres?host=\(server.folder)")
        let file = try PostgreSQLAddress("postgres://guarded@/postgres?host=\(server.folder)&passfile=\(folder.file("passwords"))")
        let wrong = try PostgreSQLAddress("postgres://guarded:other@/postgres?host=\(server.folder)")
        let missing = try PostgreSQLAddress("postgres://guarded@/postgres?host=\(server.folder)&passfile=/none")
        try await blocking { () throws in
            for address in [right, file] {
                #expect(try PostgreSQLConnection(to: address, limits).first("SELECT current_user") { $0.text(0) } == "guarded")
            }
            let errors = [wrong, missing].map { address in
                #expect(throws: PostgreSQLError.self) { try PostgreSQLConnection(to: address, limits) }
            }
            #expect(errors.map { $0?.state } == ["28P01", "28P01"])
            #expect(errors.allSatisfy { $0?.message.contains("s3cr3t") == false && $0?.message.contains("other") == false })
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `A statement without an answer breaks the connection`() async throws {
        var limits = PostgreSQLLimits()
        (limits.answer, limits.statement) = (5_000, 60_000)
        try await withConnection(limits) { connection in
            let error = #expect(throws: PostgreSQLError.self) { try connection.run("SELECT pg_sleep(60)") }
            #expect(error?.isDeadline == true && error?.endsConnection == true && error?.isUnknown == false)
            #expect(connection.isBroken)
        }
    }

    @Test func `The server ends statements that take too long and waits for locks`() async throws {
        var limits = PostgreSQLLimits()
        (limits.statement, limits.lock) = (2_000, 50)
        let server = try PostgreSQLServer.running()
        try await server.execute("CREATE TABLE locked (number bigint)")
        try await withConnection(limits) { connection in
            #expect(throws: PostgreSQLError.self) { try connection.run("SELECT pg_sleep(60)") }
            #expect(!connection.isBroken)
        }
        let address = try server.address()
        try await blocking { [limits] () throws in
            let (first, second) = (try PostgreSQLConnection(to: address, PostgreSQLLimits()), try PostgreSQLConnection(to: address, limits))
            first.begin(.change)
            try first.run("LOCK TABLE locked")
            let error = #expect(throws: PostgreSQLError.self) { try second.run("INSERT INTO locked VALUES (1)") }
            #expect(error?.state == "55P03" || error?.state == "57014")
            first.rollBack()
            #expect(!second.isBroken)
        }
    }
}
