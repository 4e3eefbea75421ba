import Lua
import PushModel

/// An entry of `needs`: a capability, or `http:{url}` for requests to the host of the setting `url`.
///
/// The operator configures the host and grants it by name.
enum PluginNeed: Sendable, Equatable {
    case fixed(Capability)
    /// The host in a string setting, or the hosts in a list of strings.
    case host(setting: String)

    /// Parses an entry. The error's reason is a whole clause.
    init(parsing text: String, _ schema: ConfigSchema) throws(Capability.Unreadable) {
        guard text.hasPrefix("http:{"), text.hasSuffix("}") else {
            self = .fixed(try Capability(parsing: text))
            return
        }
        let name = String(text.dropFirst(6).dropLast())
        let settings = schema.fields.filter { $0.type.isAddresses }.map(\.name)
        guard settings.contains(name) else {
            let near = nearest(name, in: settings).map { "; did you mean http:{\($0)}?" } ?? ""
            throw Capability.Unreadable(reason: "\"\(name)\" is not a string setting in config\(near)")
        }
        self = .host(setting: name)
    }

    /// The capabilities for a configuration; none if the setting is not given.
    ///
    /// - Parameter granted: The operator's grants, which decide whether the host may be in a private network.
    func capabilities(_ values: LuaValue, granted: [Capability]) throws(ConfigSchema.InvalidValue) -> [Capability] {
        switch self {
        case .fixed(let capability): return [capability]
        case .host(let setting):
            guard case .table(let config) = values else { return [] }
            let path = "config.\(setting)"
            switch config.fields[setting] {
            case .string(let text)?: return [try Self.capability(text, at: path, granted)]
            case .table(let list)?:
                var found: [Capability] = []
                for (index, value) in list.array.enumerated() {
                    guard case .string(let text) = value else { continue }
                    let capability = try Self.capability(text, at: "\(path)[\(index + 1)]", granted)
                    if !found.contains(capability) { found.append(capability) }
                }
                return found
            default: return []
            }
        }
    }

    private static func capability(
        _ text: String, at path: String, _ granted: [Capability]
    ) throws(ConfigSchema.InvalidValue) -> Capability {
        guard let match = text.wholeMatch(of: /(https?):\/\/([^\/?#:@]+)(?::([0-9]+))?(?:[\/?#].*)?/),
            let name = OutboundHost.name(match.2),
            let host = OutboundHost(match.3.map { "\(name):\($0)" } ?? name)
        else {
            throw ConfigSchema.InvalidValue(path: path, reason: "is not a URL", hint: "write https://api.example.com/path")
        }
        let usual = match.1 == "https" ? 443 : 80
        let shown = host.port == usual ? name : host.description
        let isPrivate = granted.contains { $0.covers(.httpPrivate(host: shown)) }
        return isPrivate ? .httpPrivate(host: shown) : .http(host: shown)
    }
}

extension ConfigSchema.FieldType {
    fileprivate var isAddresses: Bool {
        switch self {
        case .string: true
        case .list(let element): element == .string(choices: [])
        default: false
        }
    }
}
