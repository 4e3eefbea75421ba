/// The host and port of an address (RFC 3986, section 3.2), without user information.
package enum Authority {
    /// Whether the text is a host of ASCII letters, digits and `- . _`, or an IPv6 address in brackets, with an optional port from 1 to
    /// 65535.
    package static func isValid(_ text: some StringProtocol) -> Bool {
        let host: Substring
        var rest = Substring(text)
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return false }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            guard host.contains(":"), host.utf8.allSatisfy(\.isAddressCharacter) else { return false }
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest[host.endIndex...]
            guard !host.isEmpty, host.utf8.allSatisfy(\.isNameCharacter) else { return false }
        }
        guard let mark = rest.first else { return true }
        let port = rest.dropFirst()
        guard mark == ":", port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port) else { return false }
        return number > 0
    }
}

extension UInt8 {
    fileprivate var isNameCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// Includes `%`, which introduces an encoded zone identifier.
    fileprivate var isAddressCharacter: Bool { isNameCharacter || self == UInt8(ascii: ":") || self == UInt8(ascii: "%") }
}
