import PushModel

/// A row of a database. Columns are counted from 0.
protocol SQLRow {
    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) -> Int64
    func text(_ column: Int32) -> String
    func bytes(_ column: Int32) -> [UInt8]
    func json(_ column: Int32) throws -> JSON
}

extension SQLRow {
    func bool(_ column: Int32) -> Bool { integer(column) != 0 }

    func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }

    /// The row number of a registration or an installation.
    func rowNumber(_ column: Int32) throws -> UInt32 {
        guard let rowNumber = UInt32(exactly: integer(column)) else {
            throw UnreadableValue(reason: "invalid row number \(integer(column))")
        }
        return rowNumber
    }

    /// Nil for NULL.
    func optional<Value>(_ column: Int32, _ read: (Int32) throws -> Value) rethrows -> Value? {
        isNull(column) ? nil : try read(column)
    }
}
