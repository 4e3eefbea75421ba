extension [UInt8] {
    /// Hexadecimal digits in lower case.
    package var hexadecimal: String { reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) } }

    /// Reads pairs of hexadecimal digits; nil for any other text.
    package init?(hexadecimal text: Substring) {
        let digits = Array<UInt8>(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else { return nil }
            append(high << 4 | low)
        }
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
