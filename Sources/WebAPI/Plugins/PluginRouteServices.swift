package import PushModel

/// The services that plugin routes need.
package struct PluginRouteServices: Sendable {
    package var routing: any PluginRouting
    /// The stores that record received webhooks, in the space `webhook:PLUGIN` of each plugin.
    package var spaces: any KeyValueSpaces

    package init(routing: any PluginRouting, spaces: any KeyValueSpaces) {
        self.routing = routing
        self.spaces = spaces
    }
}
