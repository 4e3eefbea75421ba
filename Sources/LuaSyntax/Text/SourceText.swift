/// A position in a script: line and column (in characters), both from 1.
package struct SourcePosition: Sendable, Hashable, Comparable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: Self, right: Self) -> Bool { (left.line, left.column) < (right.line, right.column) }
}

/// The bytes of a script, divided into lines as Lua counts them. Offsets are byte offsets.
package struct SourceText: Sendable {
    package let bytes: [UInt8]
    /// The offset where Lua begins to read: after a byte order mark and a first line that begins with `#`.
    package let start: Int
    private var lines: [Line] = []

    private struct Line {
        var range: Range<Int>
        /// Whether each byte of the line is one character.
        var isASCII: Bool
    }

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let mark = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        var start = mark
        if start < bytes.count, bytes[start] == UInt8(ascii: "#") {
            while start < bytes.count, bytes[start] != UInt8(ascii: "\n") { start += 1 }
        }
        self.start = start
        var (first, at, isASCII) = (mark, mark, true)
        while at < bytes.count {
            let byte = bytes[at]
            // In a skipped first line only LF ends the line.
            guard byte.isNewline, at >= start else {
                if byte >= 0x80 { isASCII = false }
                at += 1
                continue
            }
            lines.append(Line(range: first..<at, isASCII: isASCII))
            at = end(ofNewlineAt: at)
            (first, isASCII) = (at, true)
        }
        lines.append(Line(range: first..<at, isASCII: isASCII))
    }

    package var lineCount: Int { lines.count }

    /// The text of a line without its line ending. Invalid UTF-8 is replaced.
    package func line(_ number: Int) -> String {
        guard (1...lines.count).contains(number) else { return "" }
        return String(decoding: bytes[lines[number - 1].range], as: UTF8.self)
    }

    /// The line on which a range begins.
    func line(of range: Range<Int>) -> Int { line(at: range.lowerBound) }

    /// The offset at which a line begins.
    package func start(ofLine number: Int) -> Int {
        lines[min(max(number, 1), lines.count) - 1].range.lowerBound
    }

    package func position(at offset: Int) -> SourcePosition {
        let number = lineIndex(at: offset)
        let line = lines[number]
        let end = min(max(offset, line.range.lowerBound), line.range.upperBound)
        let before = line.range.lowerBound..<end
        let column = line.isASCII ? before.count : String(decoding: bytes[before], as: UTF8.self).count
        return SourcePosition(line: number + 1, column: column + 1)
    }

    package func line(at offset: Int) -> Int { lineIndex(at: offset) + 1 }

    /// The indentation in bytes of the line that contains `offset`.
    package func indentation(at offset: Int) -> Int {
        let line = lines[lineIndex(at: offset)].range
        return bytes[line].prefix { $0.isBlank }.count
    }

    /// Whether only blanks precede `offset` in its line.
    package func isFirstInLine(_ offset: Int) -> Bool {
        let line = lines[lineIndex(at: offset)].range
        return line.lowerBound <= offset && bytes[line.lowerBound..<offset].allSatisfy { $0.isBlank }
    }

    package subscript(range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The byte at `offset`; nil past the end.
    func byte(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// The offset after a line ending. CR LF and LF CR count as one ending.
    func end(ofNewlineAt offset: Int) -> Int {
        guard let next = byte(offset + 1), next.isNewline, next != bytes[offset] else { return offset + 1 }
        return offset + 2
    }

    private func lineIndex(at offset: Int) -> Int {
        var (low, high) = (0, lines.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if lines[middle].range.lowerBound <= offset { low = middle } else { high = middle - 1 }
        }
        return low
    }
}

extension UInt8 {
    var isNewline: Bool { self == 0x0a || self == 0x0d }
    /// Space, tab, vertical tab or form feed.
    var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0b || self == 0x0c }
    var isDigit: Bool { (0x30...0x39).contains(self) }
    /// Letters that can begin a name in Lua: ASCII only.
    var isNameStart: Bool { (0x61...0x7a).contains(self | 0x20) || self == UInt8(ascii: "_") }
    var isNamePart: Bool { isNameStart || isDigit }

    var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
