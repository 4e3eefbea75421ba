import Glibc

/// An address of IPv4 or IPv6, as text and as it stands in certificates.
struct IPAddress {
    let bytes: [UInt8]

    /// Nil for anything else, names among them.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// As it stands in certificates.
    init(bytes: [UInt8]) { self.bytes = bytes }

    var text: String {
        var text = [CChar](repeating: 0, count: 64)
        guard [4, 16].contains(bytes.count), inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, 64) != nil else { return "" }
        return text.withUnsafeBufferPointer { buffer in buffer.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Reaches this machine alone.
    var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1] }
}
