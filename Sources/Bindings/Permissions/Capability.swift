import PushModel

/// A capability that a plugin requests in `needs` and an operator grants. Without both, its use throws `capability.denied`.
///
/// `CallConditions.check`, called before each function, checks the kind. Functions that need a capability for a host, a secret or a
/// namespace check that themselves: `FlowRun.demand`, `RunningPlugin.send`.
package enum Capability: Sendable, Hashable, CustomStringConvertible {
    /// Send, schedule and cancel notifications.
    case hubSend
    /// Read installations and outcomes.
    case hubRead
    /// Create, change and delete installations.
    case hubWrite
    /// Store key-value data.
    case kv
    /// Send requests to a host in the public network. `*.example.com` matches all subdomains.
    case http(host: String)
    /// Like `http`, but the host may also have a private or loopback address.
    case httpPrivate(host: String)
    /// Read the secret with this name.
    case secret(name: String)
    /// Call functions of a namespace that the program has added: `push.geo.…`.
    case native(space: String)

    /// The kind of capability that a function of the module needs.
    package enum Kind: String, Sendable, CaseIterable {
        case hubSend = "hub.send"
        case hubRead = "hub.read"
        case hubWrite = "hub.write"
        case kv
        case http
        case secret
        case native
    }

    package var kind: Kind {
        switch self {
        case .hubSend: .hubSend
        case .hubRead: .hubRead
        case .hubWrite: .hubWrite
        case .kv: .kv
        case .http, .httpPrivate: .http
        case .secret: .secret
        case .native: .native
        }
    }

    package var description: String {
        switch self {
        case .hubSend, .hubRead, .hubWrite, .kv: kind.rawValue
        case .http(let host): "http:\(host)"
        case .httpPrivate(let host): "http.private:\(host)"
        case .secret(let name): "secret:\(name)"
        case .native(let space): "native:\(space)"
        }
    }

    /// The notation of each capability.
    package static let forms = ["hub.send", "hub.read", "hub.write", "kv", "http:HOST", "http.private:HOST", "secret:NAME", "native:SPACE"]

    /// A description of each capability for the documentation.
    package static let summaries: [(form: String, summary: String)] = [
        ("hub.send", "send, schedule and cancel notifications"),
        ("hub.read", "read installations and outcomes, and list the devices of an audience"),
        ("hub.write", "create, change and delete installations"),
        ("kv", "store key-value data"),
        ("http:HOST", "send requests to a host in the public network; HOST may have a port, and `*.example.com` matches all subdomains"),
        ("http.private:HOST", "like http:HOST, but also to private and loopback addresses"),
        ("secret:NAME", "read the secret with this name"),
        ("native:SPACE", "call the functions `push.SPACE.…` that the program has [added in Swift](../how-to/native-plugins.md)"),
    ]

    /// Parses a capability. The error's reason completes a sentence that begins with the text.
    package init(parsing text: String) throws(Unreadable) {
        let (head, tail) = text.splitAtColon
        switch (head, tail) {
        case ("hub.send", nil): self = .hubSend
        case ("hub.read", nil): self = .hubRead
        case ("hub.write", nil): self = .hubWrite
        case ("kv", nil): self = .kv
        case ("http", let host?): self = .http(host: try Self.host(host))
        case ("http.private", let host?): self = .httpPrivate(host: try Self.host(host))
        case ("secret", let name?):
            guard !name.isEmpty, name.utf8.allSatisfy(\.isPropertyCharacter) else {
                throw Unreadable(reason: "invalid name of a secret in \"\(text)\": use letters, digits and _")
            }
            self = .secret(name: name)
        case ("native", let space?):
            guard space.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil else {
                throw Unreadable(reason: "invalid namespace in \"\(text)\": write native:geo for functions such as push.geo.distance")
            }
            self = .native(space: space)
        default:
            let near = nearest(head, in: Self.forms.map { $0.splitAtColon.head })
            throw Unreadable(
                reason: near == head
                    ? "incomplete capability \"\(text)\": write \(Self.forms.first { $0.splitAtColon.head == head } ?? head)"
                    : "unknown capability \"\(text)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")")
        }
    }

    package struct Unreadable: Error { package let reason: String }

    /// Parses a host name, an IPv4 address, or `*.` and a name, optionally with a port.
    private static func host(_ text: String) throws(Unreadable) -> String {
        guard let host = OutboundHost(text) else {
            throw Unreadable(
                reason: text.contains("[") || text.count(where: { $0 == ":" }) > 1 && !text.contains("/")
                    ? "IPv6 addresses are not supported: write the host's name instead of \"\(text)\""
                    : "invalid host \"\(text)\": write http:api.example.com, without scheme and path")
        }
        return host.description
    }

    /// Whether granting this capability also allows `other`.
    package func covers(_ other: Capability) -> Bool {
        switch (self, other) {
        case (.http(let own), .http(let host)), (.httpPrivate(let own), .http(let host)), (.httpPrivate(let own), .httpPrivate(let host)):
            own == host || own.hasPrefix("*.") && host.hasSuffix(own.dropFirst()) && host.count > own.count - 1
        default: self == other
        }
    }
}

extension Capability {
    /// Whether a grant for private addresses is for a requested host. The operator decides whether its addresses may be private.
    fileprivate func coversHost(of grant: Capability) -> Bool {
        if case .httpPrivate(let host) = grant { covers(.http(host: host)) } else { false }
    }
}

/// The capabilities that a plugin has requested and those it was granted.
package struct Grants: Sendable, Equatable {
    package var needs: [Capability]
    package var granted: [Capability]

    /// Reduces the grants to those covered by `grants`.
    package func restricted(to grants: [Capability]) -> Grants {
        Grants(needs: needs, granted: granted.filter { old in grants.contains { $0.covers(old) } })
    }

    package init(needs: [Capability] = [], granted: [Capability] = []) {
        self.needs = needs
        self.granted = granted
    }

    /// Requested capabilities that are not granted.
    package var missing: [Capability] { needs.filter { need in !granted.contains { $0.covers(need) } } }

    /// The capabilities in effect. A grant may cover only part of a request, and may add private addresses.
    package var effective: [Capability] {
        needs.reduce(into: []) { all, need in
            var found: [Capability] = []
            if case .http(let host) = need, granted.contains(where: { $0.covers(.httpPrivate(host: host)) }) {
                found = [.httpPrivate(host: host)]
            } else if granted.contains(where: { $0.covers(need) }) {
                found = [need] + granted.filter { need.coversHost(of: $0) }
            } else {
                found = granted.filter { need.covers($0) || need.coversHost(of: $0) }
            }
            for capability in found where !all.contains(capability) { all.append(capability) }
        }
    }

    package func allows(_ kind: Capability.Kind) -> Bool { effective.contains { $0.kind == kind } }

    package func allows(_ capability: Capability) -> Bool { effective.contains { $0.covers(capability) } }
}

extension String {
    fileprivate var splitAtColon: (head: String, tail: String?) {
        guard let colon = firstIndex(of: ":") else { return (self, nil) }
        return (String(self[..<colon]), String(self[index(after: colon)...]))
    }
}
