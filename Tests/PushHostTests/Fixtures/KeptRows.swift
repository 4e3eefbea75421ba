import Foundation
import GRDBSQLite
import Testing

/// What a server has kept, read after it has ended.
struct KeptRows {
    /// Of SQLite.
    let file: URL

    /// The first column of what the database answers.
    func callAsFunction(_ sql: String) throws -> [String] {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        try #require(sqlite3_open_v2(file.path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        // The order of users in an index without any.
        sqlite3_create_collation(database, "tag", SQLITE_UTF8, nil) { _, _, _, _, _ in 0 }
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
