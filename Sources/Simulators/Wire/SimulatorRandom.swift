/// The source of all random values of a service: identifiers, device handles, access tokens.
package struct SimulatorRandom: Sendable {
    /// Returns the given number of bytes.
    package var bytes: @Sendable (Int) -> [UInt8]

    package init(bytes: @escaping @Sendable (Int) -> [UInt8]) {
        self.bytes = bytes
    }
}

extension SimulatorRandom {
    /// `count` random bytes as lower-case hexadecimal text.
    func hex(_ count: Int) -> String { Hex.text(bytes(count)) }

    /// `count` random bytes as base64url text without padding (RFC 4648 section 5).
    func base64URL(_ count: Int) -> String { Base64URL.text(bytes(count)) }

    /// A version 4 UUID in canonical lower-case form (RFC 9562 section 5.4).
    func uuid() -> String {
        var octets = bytes(16)
        guard octets.count == 16 else { return "00000000-0000-4000-8000-000000000000" }
        octets[6] = octets[6] & 0x0f | 0x40
        octets[8] = octets[8] & 0x3f | 0x80
        let text = Array(Hex.text(octets))
        return [text[0..<8], text[8..<12], text[12..<16], text[16..<20], text[20..<32]]
            .map { String($0) }.joined(separator: "-")
    }
}
