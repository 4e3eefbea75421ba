/// The exact value of a number in JSON: digits times a power of ten.
struct JSONDecimal: Equatable {
    private let isNegative: Bool
    /// Digits as ASCII, without zeros at either end; empty for zero.
    private let digits: [UInt8]
    private let exponent: Int

    private static let exponents = -1_000_000_000...1_000_000_000

    /// - Parameter text: A valid number. Returns nil if the exponent is beyond 1,000,000,000.
    init?(_ text: String) {
        let zero = UInt8(ascii: "0")
        var rest = text.utf8[...]
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        var exponent = 0
        if let mark = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
            guard let given = Int(Substring(rest[rest.index(after: mark)...])), Self.exponents.contains(given) else { return nil }
            exponent = given
            rest = rest[..<mark]
        }
        if let point = rest.firstIndex(of: UInt8(ascii: ".")) {
            exponent -= rest.distance(from: rest.index(after: point), to: rest.endIndex)
        }
        var digits = Array(rest.lazy.filter { $0 != UInt8(ascii: ".") }.drop { $0 == zero })
        while digits.last == zero {
            digits.removeLast()
            exponent += 1
        }
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    /// The value, if it is a whole number of 64 bits.
    var int: Int? {
        guard !digits.isEmpty else { return 0 }
        guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
        let zeros = String(repeating: "0", count: exponent)
        return Int((isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + zeros)
    }

    /// Whether these are the digits of the value when it is rounded to as many, at most 17. A tie is not, because it could be rounded to another.
    /// - Parameter value: The `Double` that is the closest to this number.
    func isRounded(_ value: Double) -> Bool {
        // Within these limits, all products have fewer than 128 bits.
        let binary = Int(value.exponentBitPattern) - 1075
        guard value.isNormal, digits.count <= 17, (-22...0).contains(exponent), (-70...10).contains(binary) else { return false }
        let decimal = digits.reduce(UInt128(0)) { $0 * 10 + UInt128($1 - UInt8(ascii: "0")) }
        let power = (exponent..<0).reduce(UInt128(1)) { power, _ in power * 10 }
        let shift = max(0, -binary)
        let own = decimal << shift
        let exact = (UInt128(value.significandBitPattern | 1 << 52) << max(0, binary)) &* power
        let difference = own > exact ? own - exact : exact - own
        return difference << 1 < UInt128(1) << shift
    }
}
