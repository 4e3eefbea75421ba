/// The grammar of numbers in RFC 8259, section 6.
enum JSONNumber {
    /// Whether the whole text is a number: no spaces, no leading `+` or zeros, no bare decimal point.
    static func isNumber(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return scan(bytes, from: 0)?.end == bytes.count
    }

    /// The end of the longest number at `start`, and whether it has neither fraction nor exponent.
    static func scan(_ bytes: [UInt8], from start: Int) -> (end: Int, isInteger: Bool)? {
        var at = start
        var isInteger = true
        if at < bytes.count, bytes[at] == UInt8(ascii: "-") { at += 1 }
        let digits = at
        skipDigits(bytes, &at)
        guard at > digits, at == digits + 1 || bytes[digits] != UInt8(ascii: "0") else { return nil }
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            isInteger = false
            at += 1
            guard skipDigits(bytes, &at) else { return nil }
        }
        if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
            guard skipDigits(bytes, &at) else { return nil }
        }
        return (at, isInteger)
    }

    /// Whether the byte, directly after a number, makes the whole invalid: a letter, digit, decimal point or sign.
    static func makesNumberInvalid(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a `Double` read from the text has all its digits, so that the text may be replaced by the value. A text that rounds the value
    /// to at most 17 digits, as many programs write it, has no others: `0.10000000000000001`.
    static func keepsDigits(of text: String, _ value: Double) -> Bool {
        // 15 digits always survive.
        if text.utf8.count <= 15, text.utf8.allSatisfy({ $0 | 0x20 != UInt8(ascii: "e") }) { return true }
        let shortest = value.description
        guard shortest != text else { return true }
        guard let decimal = JSONDecimal(text) else { return false }
        return decimal == JSONDecimal(shortest) || decimal.isRounded(value)
    }

    @discardableResult
    private static func skipDigits(_ bytes: [UInt8], _ at: inout Int) -> Bool {
        let start = at
        while at < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[at]) { at += 1 }
        return at > start
    }
}
