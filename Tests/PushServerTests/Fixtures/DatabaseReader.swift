import GRDBSQLite
import Testing

/// A second connection to a server's database, which shows what the server has changed.
final class DatabaseReader {
    private let database: OpaquePointer

    /// - Parameter path: The SQLite file, which exists.
    init(_ path: String) throws {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, nil)
        database = try #require(opened)
        try #require(status == SQLITE_OK)
        // A stand-in for the collation of the index of users, which is not used to read whole tables.
        sqlite3_create_collation(database, "tag", SQLITE_UTF8, nil) { _, _, _, _, _ in 0 }
        sqlite3_busy_timeout(database, 60_000)
    }

    deinit { sqlite3_close(database) }

    /// A number that changes whenever another connection changes the database.
    func version() throws -> [UInt8] { try rows("PRAGMA data_version") }

    /// The rows of all tables but those of the audit log, which records refused requests.
    func tables() throws -> [String: [UInt8]] {
        let names = try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'audit_%'")
        var tables: [String: [UInt8]] = [:]
        for name in String(decoding: names, as: UTF8.self).split(whereSeparator: { $0 == Self.endOfRow || $0 == Self.endOfValue }) {
            tables[String(name)] = try rows("SELECT * FROM \"\(name)\"")
        }
        return tables
    }

    private static let endOfValue: Character = "\u{1f}"
    private static let endOfRow: Character = "\u{1e}"

    private func rows(_ sql: String) throws -> [UInt8] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, "\(sql)")
        var bytes: [UInt8] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            for column in 0..<sqlite3_column_count(statement) {
                if let start = sqlite3_column_blob(statement, column) {
                    bytes += UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
                }
                bytes += String(Self.endOfValue).utf8
            }
            bytes += String(Self.endOfRow).utf8
        }
        return bytes
    }
}
