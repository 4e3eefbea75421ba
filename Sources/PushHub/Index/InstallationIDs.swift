import PushModel

/// Installation ids by row: a UUID as 16 bytes, any other id as text.
struct InstallationIDs: Sendable {
    private var bytes = ByteColumn(cell: 16)
    /// Whether a UUID is written in upper case, which makes it a different id.
    private var isUpperCase = RowColumn<Bool>(vacant: false)

    /// The id in a row, which must be set.
    subscript(row: UInt32) -> String {
        get {
            guard bytes.isInCell(row) else { return bytes.withBytes(at: row) { String(decoding: $0, as: UTF8.self) } }
            let digits = isUpperCase[row] ? Self.capitals : Self.letters
            return bytes.withBytes(at: row) { Self.text($0, digits) }
        }
        set {
            var text = newValue
            text.withUTF8 { text in
                let text = UnsafeRawBufferPointer(text)
                for digits in [Self.letters, Self.capitals] {
                    guard let value = Self.value(text, digits) else { continue }
                    withUnsafeBytes(of: value.bigEndian) { bytes.set($0, at: row, isInCell: true) }
                    if isUpperCase[row] != (digits == Self.capitals) { isUpperCase[row] = digits == Self.capitals }
                    return
                }
                bytes.set(text, at: row, isInCell: false)
            }
        }
    }

    mutating func clear(_ row: UInt32) { bytes.clear(row) }

    private static let letters = Array("0123456789abcdef".utf8)
    private static let capitals = Array("0123456789ABCDEF".utf8)

    private static func isDash(_ index: Int) -> Bool { [8, 13, 18, 23].contains(index) }

    /// Decodes a UUID. Returns nil if the text is not a UUID in these digits.
    private static func value(_ text: UnsafeRawBufferPointer, _ digits: [UInt8]) -> UInt128? {
        guard text.count == 36 else { return nil }
        var value: UInt128 = 0
        for (index, byte) in text.enumerated() {
            if isDash(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = digits.firstIndex(of: byte) else { return nil }
                value = value << 4 | UInt128(digit)
            }
        }
        return value
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ digits: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            var nibble = 0
            for index in 0..<36 {
                guard !isDash(index) else {
                    text[index] = UInt8(ascii: "-")
                    continue
                }
                let byte = bytes[nibble >> 1]
                text[index] = digits[Int(nibble & 1 == 0 ? byte >> 4 : byte & 15)]
                nibble += 1
            }
            return 36
        }
    }
}
