/// The blocks of a PEM text, read leniently (RFC 7468, section 2: parsers ignore whitespace and other characters that are not base64, and
/// handle all line endings).
///
/// Accepts:
/// - lines of any length, even a whole block on one line, with spaces or a literal `\n` in place of line breaks;
/// - text in any encoding before, between and after the blocks;
/// - a byte order mark, UTF-16 with one, and quotes around the text;
/// - base64 without padding.
package struct PEMText: Sendable {
    /// In the order of the text.
    package private(set) var blocks: [PEMBlock] = []
    /// Whether a block is unreadable: its base64 is invalid, or its last line is missing.
    package private(set) var isDamaged = false

    package init(_ bytes: [UInt8]) {
        let text = Self.plain(bytes)
        var reader = BoundaryReader(text)
        var start: Boundary?
        while let boundary = reader.next() {
            if boundary.isEnd, let begin = start, begin.label == boundary.label {
                if let block = Self.block(begin.label, text[begin.range.upperBound..<boundary.range.lowerBound]) {
                    blocks.append(block)
                } else {
                    isDamaged = true
                }
                start = nil
            } else if !boundary.isEnd {
                if start != nil { isDamaged = true }
                start = boundary
            }
        }
        if start != nil { isDamaged = true }
    }

    /// Converts a PEM text to the strict form that libraries require. Damaged text, or text without blocks, is returned unchanged.
    package static func strict(_ bytes: [UInt8]) -> [UInt8] {
        let text = PEMText(bytes)
        guard !text.isDamaged, !text.blocks.isEmpty else { return bytes }
        return text.blocks.flatMap { Array($0.text.utf8) }
    }

    /// The text in UTF-8 without byte order mark. Converts UTF-16 if its byte order mark is present.
    private static func plain(_ bytes: [UInt8]) -> [UInt8] {
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return Array(bytes.withoutByteOrderMark) }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            UInt16(bytes[index]) << (isLittle ? 0 : 8) | UInt16(bytes[index + 1]) << (isLittle ? 8 : 0)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Nil for invalid base64.
    private static func block(_ label: String, _ body: ArraySlice<UInt8>) -> PEMBlock? {
        // A header always contains a colon, base64 never does.
        guard body.contains(UInt8(ascii: ":")) else { return base64(body).map { PEMBlock(label: label, bytes: $0) } }
        let lines = body.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }.map { line in
            line.drop { $0 == 0x20 || $0 == 0x09 }
        }
        let last = lines.lastIndex { $0.contains(UInt8(ascii: ":")) } ?? 0
        let headers = lines[...last].filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self).trimmingEnd }
        return base64(lines[(last + 1)...].joined()).map { PEMBlock(label: label, headers: headers, bytes: $0) }
    }

    /// Decodes base64. Skips other characters, and literal `\n`, `\r` and `\t`. Nil for an empty result or an invalid length.
    private static func base64(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (word, bits, isPadded, isEscape) = (0, 0, false, false)
        for character in text {
            defer { isEscape = character == UInt8(ascii: "\\") }
            if isEscape, [UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t")].contains(character) { continue }
            if character == UInt8(ascii: "=") { isPadded = true }
            guard let value = value(of: character) else { continue }
            if isPadded { return nil }
            (word, bits) = (word << 6 | value, bits + 6)
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(word >> bits))
            word &= 1 << bits - 1
        }
        return bytes.isEmpty || bits >= 6 ? nil : bytes
    }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case 0x41...0x5a: Int(character) - 0x41
        case 0x61...0x7a: Int(character) - 0x61 + 26
        case 0x30...0x39: Int(character) - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

/// The first or last line of a block: `-----BEGIN CERTIFICATE-----`.
private struct Boundary {
    let label: String
    let isEnd: Bool
    let range: Range<Int>
}

/// Finds the first and last lines of blocks, in one pass.
private struct BoundaryReader {
    private static let dashes = Array("-----".utf8)
    private static let words = [(Array("BEGIN ".utf8), false), (Array("END ".utf8), true)]
    private static let longestLabel = 64

    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func next() -> Boundary? {
        while let start = text[index...].firstIndex(of: UInt8(ascii: "-")) {
            if let boundary = boundary(at: start) {
                index = boundary.range.upperBound
                return boundary
            }
            index = start + 1
        }
        index = text.count
        return nil
    }

    private func boundary(at start: Int) -> Boundary? {
        let rest = text[start...]
        guard rest.starts(with: Self.dashes) else { return nil }
        let inner = rest.dropFirst(Self.dashes.count)
        guard let (word, isEnd) = Self.words.first(where: { inner.starts(with: $0.0) }) else { return nil }
        let tail = inner.dropFirst(word.count)
        for end in tail.indices.prefix(Self.longestLabel + 1) {
            if tail[end...].starts(with: Self.dashes) {
                let label = String(decoding: tail[..<end], as: UTF8.self)
                return Boundary(label: label, isEnd: isEnd, range: start..<(end + Self.dashes.count))
            }
            // Labels consist of visible ASCII characters and spaces.
            guard (0x20...0x7e).contains(tail[end]) else { return nil }
        }
        return nil
    }
}

extension String {
    fileprivate var trimmingEnd: String { String(prefix(count - reversed().prefix { $0.isWhitespace }.count)) }
}
