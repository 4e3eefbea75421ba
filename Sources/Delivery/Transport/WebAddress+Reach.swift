/// Decides whether an address is public. Endpoints come from devices: without this check, a subscription could make the hub contact
/// services inside its own network.
extension WebAddress {
    /// Scheme and host, with the port unless it is the scheme's default (RFC 6454, section 6.1).
    package var origin: String {
        let isDefault = port == nil || port == (scheme == "https" ? 443 : 80)
        return isDefault ? "\(scheme)://\(host)" : "\(scheme)://\(authority)"
    }

    /// Whether the host is public: a name with a dot and without a suffix for local use (RFC 6761, RFC 6762, RFC 8375), or an IPv4 address
    /// outside of the special-purpose blocks (RFC 6890).
    ///
    /// Names are not resolved here. The transport rejects names that resolve to private addresses.
    package var isPublic: Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last, !labels.contains("") else { return false }
        // Most programs read a host that ends in a number as an IPv4 address, also in its old notations.
        if last.allSatisfy(\.isNumber) || last.hasPrefix("0x") { return Self.isPublicIPv4(labels) }
        return !Self.localEndings.contains(String(last)) && labels.suffix(2) != ["home", "arpa"]
    }

    private static let localEndings: Set<String> = [
        "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "test", "invalid", "onion",
    ]

    /// Accepts only the standard notation: four decimal numbers without leading zeros.
    private static func isPublicIPv4(_ labels: [Substring]) -> Bool {
        let octets = labels.compactMap { label in UInt8(label).flatMap { String($0) == label ? $0 : nil } }
        return labels.count == 4 && AddressReach.isPublic(octets)
    }
}
