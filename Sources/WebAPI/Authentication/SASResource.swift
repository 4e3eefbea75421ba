import HubWire
import PushModel

/// An address in the form in which resources are compared: the host without its port, and the path segments, in lower case.
struct SASResource: Sendable {
    var host: String
    /// The decoded path segments. A segment may contain a slash that was percent-encoded.
    var parts: [String]

    init(host: String, parts: [String]) {
        self.host = host
        self.parts = parts
    }

    /// Nil if the text is not an address.
    init?(_ address: String) {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        let rest = address[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        self.init(authority: authority, path: rest[authority.endIndex...])
    }

    init(authority: some StringProtocol, path: some StringProtocol) {
        host = Self.name(authority.lowercased())
        parts = path.split(separator: "/").map { PercentEncoding.decode(String($0)).lowercased() }
    }

    /// Whether the other address is equal to or below this one.
    func covers(_ other: SASResource) -> Bool { host == other.host && other.parts.starts(with: parts) }

    /// A host without its port. An IPv6 address keeps its brackets.
    private static func name(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"), authority[colon...].dropFirst().allSatisfy(\.isNumber),
            !authority[colon...].contains("]")
        else { return authority }
        return String(authority[..<colon])
    }
}
