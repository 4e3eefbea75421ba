import HTTPTypes
import PushModel

/// Finds what a request asks for. A server without lab, plugins or flows has none of their paths: they may be hubs.
struct RouteMatcher: Sendable {
    let hasLab: Bool
    /// Whether the server's owner may control it over HTTP.
    let hasControl: Bool
    let hasFlows: Bool
    /// Nil for a server without plugins.
    let plugins: (any PluginRouting)?
    private let routes = ManagementRoute.all

    /// - Parameter path: The encoded path, without the query.
    func match(_ method: HTTPRequest.Method, _ path: String) -> RouteMatch {
        if let page = SystemRoutes.Page(rawValue: path) { return .system(page) }
        if path == "*" { return .asterisk }
        if hasLab, LabRoutes.covers(path) { return .lab }
        if let plugins, let plugin = PluginPath(path, method, plugins) { return .plugin(plugin) }
        if hasFlows, let flow = FlowInterface.name(path) { return .flow(flow) }
        if let backend = BackendPath(path) { return .backend(backend) }
        if ManagementInterface.covers(path) {
            if hasControl, let operation = ControlRoutes.Operation(rawValue: path) { return .control(operation) }
            return .management(ManagementMatch(method == .head ? .get : method, path, among: routes))
        }
        return HubPath(path).map { .hub($0) } ?? .invalid
    }
}
