import Glibc

/// Texts in a PostgreSQL database, which cannot contain NUL characters: NUL is stored as the noncharacter U+FDD0 followed by "0", and
/// U+FDD0 itself as U+FDD0 followed by "1". Equal texts stay equal, and different ones different.
enum PostgreSQLText {
    /// U+FDD0 in UTF-8.
    private static let escape: [UInt8] = [0xEF, 0xB7, 0x90]
    private static let zero = UInt8(ascii: "0")
    private static let one = UInt8(ascii: "1")

    static func append(_ text: String, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        guard needsEscape(bytes[start...]) else { return }
        let plain = Array(bytes[start...])
        bytes.removeSubrange(start...)
        var index = 0
        while index < plain.count {
            if plain[index] == 0 {
                bytes += escape + [zero]
                index += 1
            } else if plain[index...].starts(with: escape) {
                bytes += escape + [one]
                index += escape.count
            } else {
                bytes.append(plain[index])
                index += 1
            }
        }
    }

    private static func needsEscape(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { $0.contains(0) || hasEscape($0) }
    }

    /// Whether stored bytes contain an escape.
    static func hasEscape(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        // Most texts have no such byte, and memchr looks at many bytes at a time.
        while let start = rest.baseAddress, let found = memchr(start, Int32(escape[0]), rest.count) {
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(UnsafeRawPointer(found) - start))
            if rest.starts(with: escape) { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        }
        return false
    }

    /// The text of stored bytes as UTF-8.
    static func plain(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard hasEscape(bytes) else { return Array(bytes) }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let end = index + escape.count
            guard end < bytes.count, bytes[index..<end].elementsEqual(escape) else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            plain += bytes[end] == zero ? [0] : escape
            index = end + 1
        }
        return plain
    }
}
