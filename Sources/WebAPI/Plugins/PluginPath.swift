import HTTPTypes
import HubWire
import PushModel

/// A path below `/plugins` and the route found for it. It is looked up once per request, so a request uses one version of a plugin.
struct PluginPath: Sendable {
    let plugin: String
    /// The segments after the plugin's name, as `PluginRouting` expects them.
    let path: [String]
    let match: PluginRouteMatch

    /// Whether the path is below `/plugins`, even if no route matches.
    static func covers(_ path: String) -> Bool { path == "/plugins" || path.hasPrefix("/plugins/") }

    /// Each segment is decoded separately, so that an encoded slash stays part of its segment.
    /// - Parameter path: The encoded path, without the query. The result is nil for other paths.
    init?(_ path: String, _ method: HTTPRequest.Method, _ routing: any PluginRouting) {
        guard Self.covers(path) else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map { PercentEncoding.decode($0) }
        plugin = parts.first ?? ""
        self.path = Array(parts.dropFirst())
        // HEAD uses the route of GET; the body is dropped later.
        match = routing.route(
            plugin: plugin, method: (method == .head ? .get : method).rawValue, path: self.path)
    }

    /// The route; nil if none matches.
    var route: (any PluginRoute)? {
        guard case .found(let route) = match else { return nil }
        return route
    }

    /// The plugin's name if it exists. Unknown names from clients must not become metric labels.
    var existingPlugin: String? {
        switch match {
        case .found, .otherMethods: plugin
        case .notFound: nil
        }
    }
}
