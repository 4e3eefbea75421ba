import GRDBSQLite
import PushModel

/// The current row of a statement. Values of another type are converted by SQLite.
struct SQLiteRow: SQLRow {
    let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Includes NUL characters, at which C functions would end the text.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes of a text, valid until the statement advances. The base address may be nil for an empty text.
    func rawText(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(statement, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    func json(_ column: Int32) throws -> JSON {
        guard let start = sqlite3_column_text(statement, column) else { return .null }
        return try JSON(parsing: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}
