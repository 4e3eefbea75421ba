/// An absolute `http` or `https` URI (RFC 3986) taken apart as far as a request needs it.
package struct WebAddress: Sendable, Hashable {
    package let scheme: String
    /// Lower-case, without the port.
    package let host: String
    package let port: Int?
    /// Path and query, at least `/`.
    package let path: String

    /// Nil for anything that two programs could read differently: credentials before the host, backslashes, blanks,
    /// characters outside ASCII. A fragment is dropped, for it never travels.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else { return nil }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http", text[colon...].hasPrefix("://") else { return nil }
        let rest = text[text.index(colon, offsetBy: 3)...].prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
        guard let name = authority.first, !name.isEmpty, authority.count <= 2, name.utf8.allSatisfy(\.isHostCharacter)
        else { return nil }
        if authority.count == 2 {
            guard let number = UInt16(authority[1]), number > 0 else { return nil }
            port = Int(number)
        } else {
            port = nil
        }
        host = name.lowercased()
        let tail = rest[end...]
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    package var authority: String { port.map { "\(host):\($0)" } ?? host }
}

extension UInt8 {
    fileprivate var isHostCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
