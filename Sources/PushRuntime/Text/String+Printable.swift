extension String {
    /// The text with control characters escaped, so that scripts and notifications cannot control the terminal.
    package var printable: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        var safe = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\t": safe += "    "
            case _ where scalar.isControl: safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// The text with spaces after it, up to a number of characters.
    package func padded(to width: Int) -> String {
        count < width ? self + String(repeating: " ", count: width - count) : self
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        value < 0x20 || (0x7f...0x9f).contains(value) || (0x202a...0x202e).contains(value)
            || (0x2066...0x2069).contains(value)
    }
}
