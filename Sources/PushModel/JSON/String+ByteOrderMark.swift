extension String {
    /// The text without a leading byte order mark, which some editors and clients add.
    var withoutByteOrderMark: String {
        guard unicodeScalars.first == "\u{FEFF}" else { return self }
        return String(unicodeScalars.dropFirst())
    }
}

extension Collection<UInt8> {
    /// The bytes without a leading UTF-8 byte order mark.
    package var withoutByteOrderMark: SubSequence { dropFirst(starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }
}
