import HubWire
import PushCore

/// What matters of an address to which a token gives access: the host without its port, and the parts of the path, in lower case.
struct SASPlace: Sendable {
    var host: String
    /// A part may hold a slash that was encoded.
    var parts: [String]

    init(host: String, parts: [String]) {
        self.host = host
        self.parts = parts
    }

    /// Nil for a text that is no address.
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

    /// Whether the other one is here or below.
    func covers(_ other: SASPlace) -> Bool { host == other.host && other.parts.starts(with: parts) }

    /// A host without its port; an IPv6 address keeps its brackets.
    private static func name(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"), authority[colon...].dropFirst().allSatisfy(\.isNumber),
            !authority[colon...].contains("]")
        else { return authority }
        return String(authority[..<colon])
    }
}
