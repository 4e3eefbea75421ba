import GRDBSQLite
import PushCore

/// The current row of a statement; its columns count from 0. Of the wrong type they are what SQLite makes of them.
struct SQLRow {
    let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func bool(_ column: Int32) -> Bool { integer(column) != 0 }

    /// With its NUL characters, which end a text where it is read as C reads it.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A text's bytes, there until the statement goes on; of an empty text they may have no address.
    func rawText(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(statement, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }

    func json(_ column: Int32) throws -> JSON {
        guard let start = sqlite3_column_text(statement, column) else { return .null }
        return try JSON(parsing: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// A place of a registration or an installation.
    func place(_ column: Int32) throws -> UInt32 {
        guard let place = UInt32(exactly: integer(column)) else {
            throw UnreadableValue(reason: "\(integer(column)) is no place")
        }
        return place
    }

    /// Nil for NULL.
    func optional<Value>(_ column: Int32, _ read: (Int32) throws -> Value) rethrows -> Value? {
        isNull(column) ? nil : try read(column)
    }
}
