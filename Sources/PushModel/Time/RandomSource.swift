/// The source of identifiers and random choices: seeded in a rehearsal, the system's generator on a server.
package protocol RandomSource: Sendable {
    func next() -> UInt64
}

extension RandomSource {
    package func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            var word = next()
            for _ in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return bytes
    }

    /// `count` lower-case hexadecimal digits.
    package func hex(_ count: Int) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(decoding: bytes(count).map { digits.utf8Start[Int($0 & 15)] }, as: UTF8.self)
    }

    /// A canonical lower-case UUID, version 4 (RFC 9562).
    package func uuid() -> String {
        var raw = bytes(16)
        raw[6] = raw[6] & 0x0f | 0x40
        raw[8] = raw[8] & 0x3f | 0x80
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in raw.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
