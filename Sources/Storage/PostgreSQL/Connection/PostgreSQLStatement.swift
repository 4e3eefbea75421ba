import CPostgreSQL

/// A statement with its parameters.
struct PostgreSQLStatement {
    let sql: String
    private(set) var types: [UInt32] = []
    private var bytes: [UInt8] = []
    /// Where each parameter is in `bytes`; nil for NULL.
    private var places: [Range<Int>?] = []

    init<each Value: PostgreSQLValue>(_ sql: String, _ values: repeat each Value) {
        self.sql = sql
        for value in repeat each values { append(value) }
    }

    private mutating func append<Value: PostgreSQLValue>(_ value: Value) {
        types.append(Value.type)
        let start = bytes.count
        places.append(value.append(to: &bytes) ? start..<bytes.count : nil)
    }

    /// Sends the statement under the name that it was prepared with. Returns whether it could be sent.
    func send(to connection: OpaquePointer, as name: String) -> Bool {
        bytes.withUnsafeBytes { buffer in
            // The pointer to an empty value must not be null, which would be NULL.
            withUnsafeBytes(of: UInt8(0)) { empty in
                let values = places.map { place -> UnsafePointer<CChar>? in
                    guard let place else { return nil }
                    let start = buffer.baseAddress.map { $0 + place.lowerBound } ?? empty.baseAddress
                    return start?.assumingMemoryBound(to: CChar.self)
                }
                let lengths = places.map { Int32($0?.count ?? 0) }
                let formats = places.map { _ in Int32(1) }
                return cpg_send_prepared(connection, name, Int32(places.count), values, lengths, formats) != 0
            }
        }
    }
}
