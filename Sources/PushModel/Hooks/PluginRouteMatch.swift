/// The result of finding the route of a plugin for a request.
package enum PluginRouteMatch: Sendable {
    case found(any PluginRoute)
    /// No active plugin with this name has a route with this path.
    case notFound
    /// The path exists, but only for these methods.
    case otherMethods([String])
}
