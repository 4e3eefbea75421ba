/// The hosts to which a plugin may send requests. All others are denied.
package struct OutboundAllowlist: Sendable, Hashable {
    package enum Permit: Sendable {
        /// All addresses of the host must be public.
        case publicAddresses
        case anyAddress
    }

    /// Hosts that may be reached at public addresses.
    package var hosts: [OutboundHost]
    /// Hosts that may also be reached at private addresses: this machine and its local networks.
    package var privateHosts: [OutboundHost]

    package init(hosts: [OutboundHost] = [], privateHosts: [OutboundHost] = []) {
        self.hosts = hosts
        self.privateHosts = privateHosts
    }

    /// What is permitted for a host; nil if it is not granted.
    /// - Parameters:
    ///   - host: in lower case, as returned by `OutboundHost.name(_:)`.
    ///   - usualPort: the default port of the scheme.
    package func permit(host: String, port: Int, usualPort: Int) -> Permit? {
        func names(_ granted: OutboundHost) -> Bool { granted.matches(host) && port == granted.port ?? usualPort }
        if privateHosts.contains(where: names) { return .anyAddress }
        return hosts.contains(where: names) ? .publicAddresses : nil
    }
}

/// A granted host: `api.example.com`, `api.example.com:8443`, or `*.example.com` for all names below it but not the name itself. Without a
/// port, the scheme's default port applies. May be an IPv4 address but not an IPv6 address.
package struct OutboundHost: Sendable, Hashable, CustomStringConvertible {
    /// In lower case.
    package let name: String
    /// Whether this grants the names below `name`.
    package let isWildcard: Bool
    package let port: Int?

    /// Nil for an invalid host, and for a wildcard that is too broad: `*`, `*.com`.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first else { return nil }
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy(\.isDigit), let number = UInt16(parts[1]), number > 0 else { return nil }
            port = Int(number)
        } else {
            port = nil
        }
        isWildcard = host.hasPrefix("*.")
        guard let name = Self.name(isWildcard ? host.dropFirst(2) : host) else { return nil }
        if isWildcard, !name.contains(".") || Self.isNumeric(name) { return nil }
        self.name = name
    }

    package var description: String { (isWildcard ? "*." : "") + name + (port.map { ":\($0)" } ?? "") }

    func matches(_ host: String) -> Bool {
        // A host name never has an empty label before the dot.
        isWildcard ? host.hasSuffix("." + name) : host == name
    }

    /// A host name in lower case. Nil for an invalid name (RFC 1123, section 2.1; underscores are allowed as in DNS), and for an IPv4
    /// address in any form other than four decimal numbers, because programs disagree about the meaning of forms such as `0177.1`.
    package static func name(_ text: some StringProtocol) -> String? {
        guard (1...253).contains(text.utf8.count), text.utf8.allSatisfy(\.isInHostName) else { return nil }
        let name = text.lowercased()
        guard name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy({ (1...63).contains($0.count) })
        else { return nil }
        return !isNumeric(name) || isIPv4(name) ? name : nil
    }

    /// Whether programs parse the name as an IPv4 address in any of its forms: its last label is a number (URL Standard).
    package static func isNumeric(_ name: String) -> Bool {
        guard let last = name.split(separator: ".").last else { return false }
        if last.utf8.allSatisfy(\.isDigit) { return true }
        return last.hasPrefix("0x") && last.utf8.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    private static func isIPv4(_ name: String) -> Bool {
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { text in UInt8(text).map(String.init) == String(text) }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }

    fileprivate var isInHostName: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
