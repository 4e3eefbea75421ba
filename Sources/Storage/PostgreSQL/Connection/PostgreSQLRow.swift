import PushModel

/// A row of a result.
struct PostgreSQLRow: SQLRow {
    let result: PostgreSQLResult
    let row: Int32

    func isNull(_ column: Int32) -> Bool { result.isNull(row, column) }

    /// An integer of any size, or a truth value. 0 for NULL.
    func integer(_ column: Int32) -> Int64 {
        let bytes = result.bytes(row, column)
        guard let first = bytes.first, bytes.count > 1 else { return Int64(bytes.first ?? 0) }
        let sign: Int64 = first & 0x80 == 0 ? 0 : -1
        return bytes.prefix(8).reduce(sign) { $0 << 8 | Int64($1) }
    }

    func text(_ column: Int32) -> String {
        let bytes = result.bytes(row, column)
        if PostgreSQLText.hasEscape(bytes) { return String(decoding: PostgreSQLText.plain(bytes), as: UTF8.self) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Calls `body` with the bytes of a text.
    func withText<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        let bytes = result.bytes(row, column)
        guard PostgreSQLText.hasEscape(bytes) else { return try body(bytes) }
        return try PostgreSQLText.plain(bytes).withUnsafeBytes { try body($0) }
    }

    func bytes(_ column: Int32) -> [UInt8] { Array(result.bytes(row, column)) }

    func json(_ column: Int32) throws -> JSON {
        if isNull(column) { return .null }
        return try withText(column) { bytes in
            try bytes.withMemoryRebound(to: UInt8.self) { try JSON(parsing: $0) }
        }
    }
}
