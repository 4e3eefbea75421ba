import NIOCore

/// Decides which addresses are public (the special-purpose registries of RFC 6890).
package enum AddressReach {
    /// - Parameter bytes: 4 bytes of an IPv4 address, or 16 of an IPv6 address. Nothing else is public.
    package static func isPublic(_ bytes: [UInt8]) -> Bool {
        switch bytes.count {
        case 4: isPublicIPv4(bytes)
        case 16: isPublicIPv6(bytes)
        default: false
        }
    }

    private static func isPublicIPv4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224...255, _, _): false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    private static func isPublicIPv6(_ bytes: [UInt8]) -> Bool {
        // NAT64 translates to the IPv4 address at the end (RFC 6052).
        if bytes.starts(with: [0, 0x64, 0xff, 0x9b] + [UInt8](repeating: 0, count: 8)) { return isPublicIPv4(Array(bytes.suffix(4))) }
        // 6to4 relays to the IPv4 address after the prefix (RFC 3056).
        if bytes.starts(with: [0x20, 0x02]) { return isPublicIPv4(Array(bytes[2..<6])) }
        // Only 2000::/3 is global unicast; in it, 2001::/23, 2001:db8::/32 and 3fff::/20 serve special purposes. IPv4-mapped addresses
        // (::ffff:0:0/96) are not public either: an honest resolver does not return them.
        guard bytes[0] & 0xe0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0d, 0xb8), (0x3f, 0xff, 0x00...0x0f, _): return false
        default: return true
        }
    }

    /// Whether a host is public: a name with a dot and without a suffix for local use (RFC 6761, RFC 6762, RFC 8375), or an IPv4 address
    /// outside of the special-purpose blocks (RFC 6890).
    ///
    /// Names are not resolved here. The transport rejects names that resolve to private addresses.
    fileprivate static func isPublic(host: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last, !labels.contains("") else { return false }
        // Most programs read a host that ends in a number as an IPv4 address, also in its old notations.
        if last.allSatisfy(\.isNumber) || last.hasPrefix("0x") { return isPublicIPv4(labels) }
        return !localEndings.contains(String(last)) && labels.suffix(2) != ["home", "arpa"]
    }

    private static let localEndings: Set<String> = [
        "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "test", "invalid", "onion",
    ]

    /// Accepts only the standard notation: four decimal numbers without leading zeros.
    private static func isPublicIPv4(_ labels: [Substring]) -> Bool {
        let octets = labels.compactMap { label in UInt8(label).flatMap { String($0) == label ? $0 : nil } }
        return labels.count == 4 && isPublic(octets)
    }
}

extension WebAddress {
    /// Whether the host is public. Endpoints come from devices: without this check, a subscription could make the hub contact services
    /// inside its own network.
    package var isPublic: Bool { AddressReach.isPublic(host: host) }
}

extension SocketAddress {
    /// Whether the address is public.
    var isPublic: Bool {
        // Skip family and port, and for IPv6 the flow label (RFC 3493, section 3.3).
        switch self {
        case .v4(let address): AddressReach.isPublic(withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
        case .v6(let address): AddressReach.isPublic(withUnsafeBytes(of: address.address) { Array($0[8..<24]) })
        case .unixDomainSocket: false
        }
    }
}
