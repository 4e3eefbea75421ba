/// Converts the spelling of a number to its value, as `lua_stringtonumber` of Lua 5.4 does.
enum Numeral {
    static func value(of spelling: ArraySlice<UInt8>) -> Token.Kind? {
        let isHex =
            spelling.count > 1 && spelling.first == UInt8(ascii: "0") && spelling[spelling.startIndex + 1] | 0x20 == UInt8(ascii: "x")
        if let integer = isHex ? hexInteger(spelling.dropFirst(2)) : decimalInteger(spelling) { return .integer(integer) }
        guard isFloat(isHex ? spelling.dropFirst(2) : spelling, isHex: isHex) else { return nil }
        let text = String(decoding: spelling, as: UTF8.self)
        // Swift requires an exponent in hexadecimal floats.
        let hasExponent = text.contains { $0 == "p" || $0 == "P" }
        return .number(Double(isHex && !hasExponent ? text + "p0" : text) ?? .infinity)
    }

    /// Reads a hexadecimal integer, which wraps around at 64 bits.
    private static func hexInteger(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = byte.hexValue else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return Int64(bitPattern: value)
    }

    /// Reads a decimal integer. Returns nil if it does not fit into 64 bits; it is then read as a float.
    private static func decimalInteger(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ $0.isDigit }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// Whether the spelling is a float: digits with at most one dot, then an optional exponent with decimal digits.
    private static func isFloat(_ spelling: ArraySlice<UInt8>, isHex: Bool) -> Bool {
        func isDigit(_ byte: UInt8) -> Bool { isHex ? byte.hexValue != nil : byte.isDigit }
        let whole = spelling.prefix(while: isDigit)
        var rest = spelling.dropFirst(whole.count)
        var count = whole.count
        if rest.first == UInt8(ascii: ".") {
            let part = rest.dropFirst().prefix(while: isDigit)
            count += part.count
            rest = rest.dropFirst(part.count + 1)
        }
        guard count > 0 else { return false }
        guard let mark = rest.first else { return true }
        guard mark | 0x20 == UInt8(ascii: isHex ? "p" : "e") else { return false }
        rest = rest.dropFirst()
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
        return !rest.isEmpty && rest.allSatisfy { $0.isDigit }
    }
}
