import HTTPTypes
import HubWire
import PushCore

/// A path below `/plugins`, and what answers there. It is looked up once for each request, which stays with the version that it found.
struct PluginPlace: Sendable {
    let plugin: String
    /// Behind the name of the plugin, as `PluginRouting` has it.
    let path: [String]
    let match: PluginRouteMatch

    /// Whether a path is one of plugins, whatever is there.
    static func covers(_ path: String) -> Bool { path == "/plugins" || path.hasPrefix("/plugins/") }

    /// Each part is decoded by itself, so that a slash that was encoded is one of the part.
    /// - Parameter path: still encoded, without the query. Nil where it is none of plugins.
    init?(_ path: String, _ method: HTTPRequest.Method, _ routing: any PluginRouting) {
        guard Self.covers(path) else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map { PercentEncoding.decode($0) }
        plugin = parts.first ?? ""
        self.path = Array(parts.dropFirst())
        // What HEAD answers is what GET would, without the body.
        match = routing.route(
            plugin: plugin, method: (method == .head ? .get : method).rawValue, path: self.path)
    }

    /// What answers; nil for nothing.
    var route: (any PluginRoute)? {
        guard case .found(let route) = match else { return nil }
        return route
    }

    /// The plugin's name where there is such a plugin; what else clients write is not to be counted by its name.
    var knownPlugin: String? {
        switch match {
        case .found, .otherMethods: plugin
        case .notFound: nil
        }
    }
}
