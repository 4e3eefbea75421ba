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
        guard labels.count == 4, octets.count == 4 else { return false }
        switch (octets[0], octets[1], octets[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224...255, _, _): return false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): return false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): return false
        default: return true
        }
    }
}
