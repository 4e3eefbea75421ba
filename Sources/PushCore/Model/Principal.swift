/// On whose behalf something is done.
package enum Principal: Sendable, Hashable, CustomStringConvertible {
    /// Whoever signs with a key: of a hub, or for nil of the server.
    case key(String, hub: String?)
    /// Whoever owns the server: over the socket in its data folder, by its files, by a signal.
    case owner
    case plugin(String)
    case flow(String)
    /// The server by itself.
    case server

    /// `key:NAME`, `key:HUB/NAME`, `owner`, `plugin:NAME`, `flow:NAME`, `server`. Names of keys have no slash, those of hubs may.
    package var description: String {
        switch self {
        case .key(let name, let hub): "key:\(hub.map { "\($0)/" } ?? "")\(name)"
        case .owner: "owner"
        case .plugin(let name): "plugin:\(name)"
        case .flow(let name): "flow:\(name)"
        case .server: "server"
        }
    }

    /// Nil for a text that is none of these.
    package init?(_ text: String) {
        switch text {
        case "owner": self = .owner
        case "server": self = .server
        default:
            guard let colon = text.firstIndex(of: ":") else { return nil }
            let name = String(text[text.index(after: colon)...])
            guard !name.isEmpty else { return nil }
            switch text[..<colon] {
            case "plugin": self = .plugin(name)
            case "flow": self = .flow(name)
            case "key":
                guard let slash = name.lastIndex(of: "/") else {
                    self = .key(name, hub: nil)
                    return
                }
                self = .key(String(name[name.index(after: slash)...]), hub: String(name[..<slash]))
            default: return nil
            }
        }
    }
}
