/// Where an address leads. Endpoints come from devices: without a look at the host, a subscription could make the hub
/// knock at doors inside its own network.
extension WebAddress {
    /// Scheme, host, and the port where it is not the scheme's own (RFC 6454, section 6.1).
    package var origin: String {
        let isDefault = port == nil || port == (scheme == "https" ? 443 : 80)
        return isDefault ? "\(scheme)://\(host)" : "\(scheme)://\(authority)"
    }

    /// Whether the host can stand on the public Internet: a name with a dot and none of the endings kept for local use
    /// (RFC 6761, RFC 6762, RFC 8375), or an IPv4 address outside of the special-purpose blocks (RFC 6890).
    ///
    /// Names are not resolved here; a name that leads to a private address is the transport's to refuse.
    package var isPublic: Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last, !labels.contains("") else { return false }
        // What ends in a number is read as an IPv4 address by most programs, in any of its old spellings too.
        if last.allSatisfy(\.isNumber) || last.hasPrefix("0x") { return Self.isPublicIPv4(labels) }
        return !Self.localEndings.contains(String(last)) && labels.suffix(2) != ["home", "arpa"]
    }

    private static let localEndings: Set<String> = [
        "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "test", "invalid", "onion",
    ]

    /// Only the plain spelling: four decimal numbers without leading zeros.
    private static func isPublicIPv4(_ labels: [Substring]) -> Bool {
        let octets = labels.compactMap { label in UInt8(label).flatMap { String($0) == label ? $0 : nil } }
        return labels.count == 4 && AddressReach.isPublic(octets)
    }
}
