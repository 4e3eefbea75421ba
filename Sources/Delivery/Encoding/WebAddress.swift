/// An absolute `http` or `https` URI (RFC 3986), split into the parts that a request needs.
package struct WebAddress: Sendable, Hashable {
    package let scheme: String
    /// In lower case, without the port.
    package let host: String
    package let port: Int?
    /// Path and query, at least `/`.
    package let path: String

    /// Returns `nil` for anything that two programs could read differently: credentials before the host, backslashes, blanks, characters
    /// outside ASCII. A fragment is dropped, because it is never sent.
    package init?(_ text: String) {
        // Works on bytes for speed: every device of a broadcast may have an address.
        let bytes = text.utf8
        guard bytes.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else { return nil }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http", bytes[colon...].starts(with: "://".utf8) else { return nil }
        let rest = bytes[bytes.index(colon, offsetBy: 3)...].prefix { $0 != UInt8(ascii: "#") }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let name = authority.first, !name.isEmpty, authority.count <= 2, name.allSatisfy(\.isHostCharacter)
        else { return nil }
        if authority.count == 2 {
            guard authority[1].allSatisfy(\.isDigit), let number = UInt16(Substring(authority[1])), number > 0 else { return nil }
            port = Int(number)
        } else {
            port = nil
        }
        host = Substring(name).lowercased()
        let tail = Substring(rest[end...])
        path = tail.utf8.first == UInt8(ascii: "/") ? String(tail) : "/" + tail
    }

    package var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// Scheme and host, with the port unless it is the scheme's default (RFC 6454, section 6.1).
    package var origin: String {
        let isDefault = port == nil || port == (scheme == "https" ? 443 : 80)
        return isDefault ? "\(scheme)://\(host)" : "\(scheme)://\(authority)"
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }

    fileprivate var isHostCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
