import GRDBSQLite
import Glibc

/// A type that can be bound to a statement parameter.
protocol SQLValue {
    /// Binds the value to a parameter, counted from 1. Returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, self) }
}

extension Int: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, Int64(self)) }
}

extension UInt32: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, Int64(self)) }
}

extension Bool: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, self ? 1 : 0) }
}

extension String: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { bytes in
            guard let copy = copied(UnsafeRawBufferPointer(bytes)) else { return SQLITE_NOMEM }
            return sqlite3_bind_text64(
                statement, index, copy.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), { free($0) }, UInt8(SQLITE_UTF8))
        }
    }
}

extension [UInt8]: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            guard let copy = copied(bytes) else { return SQLITE_NOMEM }
            return sqlite3_bind_blob64(statement, index, copy, UInt64(bytes.count), { free($0) })
        }
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
    }
}

/// Allocates a copy that SQLite frees; nil if out of memory. Never empty, because a null pointer would be bound as NULL.
private func copied(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
    guard let copy = malloc(max(bytes.count, 1)) else { return nil }
    if let base = bytes.baseAddress { memcpy(copy, base, bytes.count) }
    return copy
}
