import GRDB
import GRDBSQLite

/// Direct use of SQLite's C interface with the connection's cached statements. This is faster than GRDB's row dictionaries and preserves
/// NUL characters in text.
extension Database {
    /// Runs a statement that returns no rows.
    func run<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws {
        let statement = try prepared(sql, repeat each values)
        defer { sqlite3_reset(statement) }
        while try step(statement, sql) {}
    }

    /// Calls `read` with every row.
    func each<each Value: SQLValue>(_ sql: String, _ values: repeat each Value, read: (SQLiteRow) throws -> Void) throws {
        let statement = try prepared(sql, repeat each values)
        defer { sqlite3_reset(statement) }
        while try step(statement, sql) { try read(SQLiteRow(statement: statement)) }
    }

    /// The first row; nil if there is none.
    func first<Result, each Value: SQLValue>(
        _ sql: String, _ values: repeat each Value, read: (SQLiteRow) throws -> Result
    ) throws -> Result? {
        let statement = try prepared(sql, repeat each values)
        defer { sqlite3_reset(statement) }
        return try step(statement, sql) ? try read(SQLiteRow(statement: statement)) : nil
    }

    func all<Result, each Value: SQLValue>(
        _ sql: String, _ values: repeat each Value, read: (SQLiteRow) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try each(sql, repeat each values) { results.append(try read($0)) }
        return results
    }

    private func prepared<each Value: SQLValue>(_ sql: String, _ values: repeat each Value) throws -> OpaquePointer {
        let statement = try cachedStatement(sql: sql).sqliteStatement
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            let code = value.bind(to: statement, at: index)
            if code != SQLITE_OK { throw failure(code, sql) }
        }
        return statement
    }

    /// Returns whether there is a row.
    private func step(_ statement: OpaquePointer, _ sql: String) throws -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code, sql)
    }

    private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }, sql: sql)
    }
}
