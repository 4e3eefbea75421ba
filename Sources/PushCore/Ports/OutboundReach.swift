/// Where a plugin's requests may go: nowhere that is not named here.
package struct OutboundReach: Sendable, Hashable {
    package enum Permit: Sendable {
        /// All addresses that the host's name leads to must be public.
        case publicAddresses
        case anyAddress
    }

    /// Where their addresses are public.
    package var hosts: [OutboundHost]
    /// Also where their addresses are not: this machine, the networks around it.
    package var privateHosts: [OutboundHost]

    package init(hosts: [OutboundHost] = [], privateHosts: [OutboundHost] = []) {
        self.hosts = hosts
        self.privateHosts = privateHosts
    }

    /// Nil where nothing may go.
    /// - Parameters:
    ///   - host: in lower case, as `OutboundHost.name(_:)` gives it.
    ///   - usualPort: of the scheme.
    package func permit(host: String, port: Int, usualPort: Int) -> Permit? {
        func names(_ granted: OutboundHost) -> Bool { granted.matches(host) && port == granted.port ?? usualPort }
        if privateHosts.contains(where: names) { return .anyAddress }
        return hosts.contains(where: names) ? .publicAddresses : nil
    }
}

/// A host that may be reached: `api.example.com`, `api.example.com:8443`, or `*.example.com` for all names below it, itself not among
/// them. Without a port it is the scheme's own. An IPv4 address is a host, one of IPv6 is not.
package struct OutboundHost: Sendable, Hashable, CustomStringConvertible {
    /// In lower case.
    package let name: String
    /// Whether the names below it are meant.
    package let isWildcard: Bool
    package let port: Int?

    /// Nil for anything else, and for a wildcard that would leave open whose names they are: `*`, `*.com`.
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
        // Nothing is below an address, and the text before the dot is never empty in a name.
        isWildcard ? host.hasSuffix("." + name) : host == name
    }

    /// A host in lower case; nil for what is not the name of a host (RFC 1123, section 2.1; underscores as DNS has them), and for an
    /// IPv4 address that is spelled in another way than four decimal numbers: programs do not agree on what `0177.1` is.
    package static func name(_ text: some StringProtocol) -> String? {
        guard (1...253).contains(text.utf8.count), text.utf8.allSatisfy(\.isInHostName) else { return nil }
        let name = text.lowercased()
        guard name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy({ (1...63).contains($0.count) })
        else { return nil }
        return !isNumeric(name) || isIPv4(name) ? name : nil
    }

    /// Whether programs read it as an IPv4 address, in any of its spellings: it ends in a number, as the URL Standard has it.
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
