import Foundation
import GRDBSQLite
import Testing

/// Reads a server's database after the server has ended.
struct DatabaseRows {
    /// The SQLite file.
    let file: URL

    /// Creates the database from SQL statements.
    func make(_ sql: String) throws {
        let database = try open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        defer { sqlite3_close(database) }
        try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
    }

    private func open(_ flags: Int32) throws -> OpaquePointer {
        var database: OpaquePointer?
        let status = sqlite3_open_v2(file.path, &database, flags, nil)
        let opened = try #require(database)
        try #require(status == SQLITE_OK)
        // A stand-in for the collation that the index of users needs; there is at most one user.
        sqlite3_create_collation(opened, "tag", SQLITE_UTF8, nil) { _, _, _, _, _ in 0 }
        return opened
    }

    /// The first column of the query's result.
    func callAsFunction(_ sql: String) throws -> [String] {
        let database = try open(SQLITE_OPEN_READWRITE)
        defer { sqlite3_close(database) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK)
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
        }
        return rows
    }
}
