/// Reads values from bytes, one after the other.
///
/// Reading never fails. A read beyond the end returns zero or nothing, as do all later reads, and sets `isBeyond` for a check at the end.
package struct ByteCursor {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var offset: Int
    /// Whether a read went beyond the end, or the bytes were found invalid.
    package private(set) var isBeyond = false

    package init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    package var isAtEnd: Bool { offset == bytes.count }

    package mutating func byte() -> UInt8 {
        guard offset < bytes.count, !isBeyond else {
            isBeyond = true
            return 0
        }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func word() -> UInt64 {
        let bytes = take(8)
        return bytes.isEmpty ? 0 : UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    /// Variable-length encoding (LEB128): seven bits per byte, the lowest first; all but the last byte have the highest bit set.
    package mutating func number() -> UInt64 {
        var (number, shift) = (UInt64(0), UInt64(0))
        while shift < 64 {
            let byte = byte()
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        isBeyond = true
        return 0
    }

    /// A number of items, each of which takes at least one byte.
    package mutating func count() -> Int {
        let number = number()
        guard number <= UInt64(bytes.count - offset) else {
            isBeyond = true
            return 0
        }
        return Int(number)
    }

    package mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - offset, !isBeyond else {
            isBeyond = true
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Marks the bytes as invalid, so that all later reads return nothing.
    package mutating func leave() { isBeyond = true }

    package mutating func text() -> String { String(decoding: take(count()), as: UTF8.self) }
}

extension [UInt8] {
    package mutating func append(word: UInt64) {
        Swift.withUnsafeBytes(of: word.littleEndian) { append(contentsOf: $0) }
    }

    package mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    package mutating func append(text: String) {
        append(number: UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}

/// Converts pairs of hexadecimal digits with letters of one case to bytes and back.
enum HexCase {
    case upper, lower

    private var letters: UInt8 {
        switch self {
        case .upper: UInt8(ascii: "A")
        case .lower: UInt8(ascii: "a")
        }
    }

    /// The digit's value; 16 or more if it is not a digit in this case.
    private func value(_ digit: UInt8) -> UInt8 {
        let value = digit &- UInt8(ascii: "0")
        if value < 10 { return value }
        let letter = digit &- letters
        return letter < 6 ? letter + 10 : 0xff
    }

    /// Appends one byte per two digits. Returns false and appends nothing if one of them is not a digit.
    func pack(_ digits: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard digits.count.isMultiple(of: 2) else { return false }
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: digits.count / 2))
        let flaws = bytes.withUnsafeMutableBytes { bytes in
            var flaws: UInt8 = 0
            for index in 0..<digits.count / 2 {
                let (high, low) = (value(digits[2 * index]), value(digits[2 * index + 1]))
                flaws |= high | low
                bytes[start + index] = high << 4 | low & 0xf
            }
            return flaws
        }
        if flaws > 0xf { bytes.removeSubrange(start...) }
        return flaws <= 0xf
    }

    private func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : letters + value - 10 }

    func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 0xf)
            }
            return 2 * bytes.count
        }
    }

    // MARK: - UUIDs

    /// Positions of the dashes in the 36 characters of a UUID (RFC 9562, section 4).
    private static let dashes = [8, 13, 18, 23]

    /// Appends 16 bytes. Returns false and appends nothing if the text is not a UUID in this case.
    func packUUID(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count == 36, Self.dashes.allSatisfy({ text[$0] == UInt8(ascii: "-") }) else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
            var end = 0
            for index in 0..<36 where text[index] != UInt8(ascii: "-") && end < 32 {
                digits[end] = text[index]
                end += 1
            }
            return end == 32 && pack(UnsafeBufferPointer(digits), to: &bytes)
        }
    }

    /// - Parameter bytes: exactly 16.
    func uuid(_ bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.count == 16 else { return "" }
        return String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            for (index, byte) in bytes.enumerated() {
                if [4, 6, 8, 10].contains(index) {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                text[end] = digit(byte >> 4)
                text[end + 1] = digit(byte & 0xf)
                end += 2
            }
            return end
        }
    }
}
