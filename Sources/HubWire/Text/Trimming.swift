extension StringProtocol where SubSequence == Substring {
    /// The text without leading and trailing whitespace of XML and HTTP.
    package var trimmed: String {
        var rest = self[startIndex..<endIndex].unicodeScalars
        while let first = rest.first, first.isBlank { rest.removeFirst() }
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return String(rest)
    }
}

extension String {
    /// The text; nil if it is empty.
    package var nonEmpty: String? { isEmpty ? nil : self }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" || self == "\n" || self == "\r" }
}
