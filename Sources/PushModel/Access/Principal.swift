/// The party on whose behalf an action is done.
package enum Principal: Sendable, Hashable, CustomStringConvertible {
    /// The holder of a key of this hub, or of the server if nil.
    case key(String, hub: String?)
    /// The owner of the server: acts through the socket in its data folder, its files or a signal.
    case owner
    case plugin(String)
    case flow(String)
    /// The server itself, without a request.
    case server

    /// `key:NAME`, `key:HUB/NAME`, `owner`, `plugin:NAME`, `flow:NAME`, `server`. The names of keys contain no slash; those of hubs may.
    package var description: String {
        switch self {
        case .key(let name, let hub): "key:\(hub.map { "\($0)/" } ?? "")\(name)"
        case .owner: "owner"
        case .plugin(let name): "plugin:\(name)"
        case .flow(let name): "flow:\(name)"
        case .server: "server"
        }
    }

    /// Reads the format of `description`; nil for any other text.
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
