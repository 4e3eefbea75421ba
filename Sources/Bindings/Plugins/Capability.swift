import PushCore

/// Something that a plugin asks for in `needs` and an operator grants: without both, it raises `capability.denied`.
package enum Capability: Sendable, Hashable, CustomStringConvertible {
    /// Sending, scheduling and cancelling notifications.
    case hubSend
    /// Reading installations and outcomes.
    case hubRead
    /// Creating, changing and deleting installations.
    case hubWrite
    /// Keeping values.
    case kv
    /// Requests to a host in the public network; `*.example.com` stands for all hosts below.
    case http(host: String)
    /// The same wherever the host's address is.
    case httpPrivate(host: String)
    /// Reading the secret of that name.
    case secret(name: String)
    /// Calling the functions that the program has added in that space: `push.geo.…`.
    case native(space: String)

    /// What kind a function of the module needs.
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

    /// How each is written.
    package static let forms = ["hub.send", "hub.read", "hub.write", "kv", "http:HOST", "http.private:HOST", "secret:NAME", "native:SPACE"]

    /// What each allows, as the documentation has it.
    package static let summaries: [(form: String, summary: String)] = [
        ("hub.send", "sending, scheduling and cancelling notifications"),
        ("hub.read", "reading installations and outcomes, and the devices of an audience one by one"),
        ("hub.write", "creating, changing and deleting installations"),
        ("kv", "keeping values of its own"),
        ("http:HOST", "requests to that host in the public network; HOST may have a port, and `*.example.com` stands for all hosts below"),
        ("http.private:HOST", "the same wherever the host's address is, loopback and private networks included"),
        ("secret:NAME", "reading the secret of that name"),
        ("native:SPACE", "calling the functions `push.SPACE.…` of a program that was [built with its own](../native-plugins.md)"),
    ]

    /// Reads one as it is written. Throws what is wrong, as the rest of a sentence that begins with the text.
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
                throw Unreadable(reason: "names no secret: names have letters, digits and _")
            }
            self = .secret(name: name)
        case ("native", let space?):
            guard space.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil else {
                throw Unreadable(reason: "names no space: write native:geo for functions such as push.geo.distance")
            }
            self = .native(space: space)
        default:
            let near = nearest(head, in: Self.forms.map { $0.splitAtColon.head })
            throw Unreadable(
                reason: near == head
                    ? "is not complete: write \(Self.forms.first { $0.splitAtColon.head == head } ?? head)"
                    : "is no capability\(near.map { "; did you mean \"\($0)\"?" } ?? "")")
        }
    }

    package struct Unreadable: Error { package let reason: String }

    /// A name, an address, or `*.` and a name, each with a port or without.
    private static func host(_ text: String) throws(Unreadable) -> String {
        guard let host = OutboundHost(text) else {
            throw Unreadable(
                reason: text.contains("[") || text.count(where: { $0 == ":" }) > 1 && !text.contains("/")
                    ? "is an IPv6 address, which plugins cannot ask: write the name of the host"
                    : "names no host: write http:api.example.com, without a scheme or a path")
        }
        return host.description
    }

    /// Whether this one, granted, allows the other.
    package func covers(_ other: Capability) -> Bool {
        switch (self, other) {
        case (.http(let own), .http(let host)), (.httpPrivate(let own), .http(let host)), (.httpPrivate(let own), .httpPrivate(let host)):
            own == host || own.hasPrefix("*.") && host.hasSuffix(own.dropFirst()) && host.count > own.count - 1
        default: self == other
        }
    }
}

extension Capability {
    /// Whether the host of a private grant is one of those that are asked for: whether its addresses may be private is the operator's
    /// choice.
    fileprivate func coversHost(of grant: Capability) -> Bool {
        if case .httpPrivate(let host) = grant { covers(.http(host: host)) } else { false }
    }
}

/// What a plugin has asked for and was granted.
package struct Grants: Sendable, Equatable {
    package var needs: [Capability]
    package var granted: [Capability]

    /// With no more than these grants.
    package func restricted(to grants: [Capability]) -> Grants {
        Grants(needs: needs, granted: granted.filter { old in grants.contains { $0.covers(old) } })
    }

    package init(needs: [Capability] = [], granted: [Capability] = []) {
        self.needs = needs
        self.granted = granted
    }

    /// What it asks for and has not been granted.
    package var missing: [Capability] { needs.filter { need in !granted.contains { $0.covers(need) } } }

    /// What it may do: of what it asks for all that was granted, which may be a part of it, and with the private addresses that were.
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
