import Lua
import PushCore

/// What a plugin asks for in `needs`: a capability, or `http:{url}`, requests to the host of what is configured as `url`.
///
/// Which host that is only the operator knows, who grants it by its name.
enum PluginNeed: Sendable, Equatable {
    case fixed(Capability)
    /// The host of a text of the configuration, or the hosts of a list of texts.
    case host(setting: String)

    /// Throws what is wrong, as the rest of a sentence that begins with the text.
    init(parsing text: String, _ schema: ConfigSchema) throws(Capability.Unreadable) {
        guard text.hasPrefix("http:{"), text.hasSuffix("}") else {
            self = .fixed(try Capability(parsing: text))
            return
        }
        let name = String(text.dropFirst(6).dropLast())
        let settings = schema.fields.filter { $0.type.isAddresses }.map(\.name)
        guard settings.contains(name) else {
            throw Capability.Unreadable(
                reason: "names no text of config\(nearest(name, in: settings).map { "; did you mean http:{\($0)}?" } ?? "")")
        }
        self = .host(setting: name)
    }

    /// What that is with a configuration; nothing where the setting is not given.
    ///
    /// - Parameter granted: whether the host may be in a private network is the operator's choice, as the host is.
    func capabilities(_ values: LuaValue, granted: [Capability]) throws(ConfigSchema.Misfit) -> [Capability] {
        switch self {
        case .fixed(let capability): return [capability]
        case .host(let setting):
            guard case .table(let config) = values else { return [] }
            let path = "config.\(setting)"
            switch config.fields[setting] {
            case .string(let text)?: return [try Self.capability(text, at: path, granted)]
            case .table(let list)?:
                var found: [Capability] = []
                for (place, value) in list.array.enumerated() {
                    guard case .string(let text) = value else { continue }
                    let capability = try Self.capability(text, at: "\(path)[\(place + 1)]", granted)
                    if !found.contains(capability) { found.append(capability) }
                }
                return found
            default: return []
            }
        }
    }

    private static func capability(
        _ text: String, at path: String, _ granted: [Capability]
    ) throws(ConfigSchema.Misfit) -> Capability {
        guard let match = text.wholeMatch(of: /(https?):\/\/([^\/?#:@]+)(?::([0-9]+))?(?:[\/?#].*)?/),
            let name = OutboundHost.name(match.2),
            let host = OutboundHost(match.3.map { "\(name):\($0)" } ?? name)
        else {
            throw ConfigSchema.Misfit(path: path, reason: "is no address", hint: "write https://api.example.com/path")
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
