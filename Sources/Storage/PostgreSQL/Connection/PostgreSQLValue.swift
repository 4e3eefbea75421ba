/// A type that can be a parameter of a statement, in PostgreSQL's binary form.
protocol PostgreSQLValue {
    /// The OID of its type in the database.
    static var type: UInt32 { get }
    /// The OID of an array of this type.
    static var arrayType: UInt32 { get }
    /// Appends the value. Returns false and appends nothing for NULL.
    func append(to bytes: inout [UInt8]) -> Bool
}

extension FixedWidthInteger {
    /// Appends the number, most significant byte first.
    func appendBigEndian(to bytes: inout [UInt8]) {
        Swift.withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension Int64: PostgreSQLValue {
    static var type: UInt32 { 20 }
    static var arrayType: UInt32 { 1016 }

    func append(to bytes: inout [UInt8]) -> Bool {
        appendBigEndian(to: &bytes)
        return true
    }
}

extension Int: PostgreSQLValue {
    static var type: UInt32 { Int64.type }
    static var arrayType: UInt32 { Int64.arrayType }

    func append(to bytes: inout [UInt8]) -> Bool { Int64(self).append(to: &bytes) }
}

extension UInt32: PostgreSQLValue {
    static var type: UInt32 { Int64.type }
    static var arrayType: UInt32 { Int64.arrayType }

    func append(to bytes: inout [UInt8]) -> Bool { Int64(self).append(to: &bytes) }
}

extension Bool: PostgreSQLValue {
    static var type: UInt32 { 16 }
    static var arrayType: UInt32 { 1000 }

    func append(to bytes: inout [UInt8]) -> Bool {
        bytes.append(self ? 1 : 0)
        return true
    }
}

extension String: PostgreSQLValue {
    static var type: UInt32 { 25 }
    static var arrayType: UInt32 { 1009 }

    func append(to bytes: inout [UInt8]) -> Bool {
        PostgreSQLText.append(self, to: &bytes)
        return true
    }
}

extension [UInt8]: PostgreSQLValue {
    static var type: UInt32 { 17 }
    static var arrayType: UInt32 { 1001 }

    func append(to bytes: inout [UInt8]) -> Bool {
        bytes.append(contentsOf: self)
        return true
    }
}

extension Optional: PostgreSQLValue where Wrapped: PostgreSQLValue {
    static var type: UInt32 { Wrapped.type }
    static var arrayType: UInt32 { Wrapped.arrayType }

    func append(to bytes: inout [UInt8]) -> Bool { self?.append(to: &bytes) ?? false }
}
