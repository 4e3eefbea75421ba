extension String {
    /// The text behind a byte order mark, which some editors and clients put before documents.
    var withoutByteOrderMark: String {
        guard unicodeScalars.first == "\u{FEFF}" else { return self }
        return String(unicodeScalars.dropFirst())
    }
}

extension Collection<UInt8> {
    /// The text behind the byte order mark of UTF-8.
    package var withoutByteOrderMark: SubSequence { dropFirst(starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }
}
