extension StringProtocol where SubSequence == Substring {
    /// Without the blanks of XML and HTTP around it.
    package var trimmed: String {
        var rest = self[startIndex..<endIndex].unicodeScalars
        while let first = rest.first, first.isBlank { rest.removeFirst() }
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return String(rest)
    }
}

extension String {
    /// Nil for an empty text.
    package var nonEmpty: String? { isEmpty ? nil : self }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" || self == "\n" || self == "\r" }
}
