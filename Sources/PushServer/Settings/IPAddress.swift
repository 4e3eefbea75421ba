import Glibc

/// An IPv4 or IPv6 address, as text and as bytes in certificates.
package struct IPAddress {
    let bytes: [UInt8]

    /// Parses an address. Nil for any other text, including host names.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// - Parameter bytes: 4 or 16 bytes in network order, as in certificates.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var text: String {
        var text = [CChar](repeating: 0, count: 64)
        guard [4, 16].contains(bytes.count), inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, 64) != nil else { return "" }
        return text.withUnsafeBufferPointer { buffer in buffer.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Whether the address is a loopback address.
    package var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1] }
}
