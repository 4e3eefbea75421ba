/// Finds the HTTP routes of plugins below `/plugins/NAME`.
package protocol PluginRouting: Sendable {
    /// Finds the route for a request. The returned route belongs to one version of the plugin, even if another is loaded in the meantime.
    ///
    /// - Parameters:
    ///   - plugin: the first path segment after `/plugins`, percent-decoded.
    ///   - path: the remaining segments, percent-decoded; a trailing slash gives an empty one.
    func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch
}

/// A plugin's route that matches a request.
package protocol PluginRoute: Sendable {
    /// The name in log lines: `greet GET /greetings/{name}`.
    var name: String { get }
    /// The plugin's version.
    var version: String { get }
    var authentication: RouteAuthentication { get }
    /// Maximum size of a request body, in bytes.
    var bodyLimit: Int { get }
    /// The secret that signs webhooks; nil if there is none. Read for each request, because it can change.
    func webhookSecret() -> Secret?
    /// Runs the plugin's function. Throws `request.parameter` (400) for invalid parameters, and `route.failed` (500) if the function fails;
    /// the function's own error appears only in the log.
    func answer(_ request: PluginRequest) async throws(PushError) -> PluginResponse
}
