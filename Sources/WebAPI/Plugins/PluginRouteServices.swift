import PushCore

/// What the interface knows of plugins.
package struct PluginRouteServices: Sendable {
    package var routing: any PluginRouting
    /// Where it is remembered which webhooks have come, in the space `webhook:PLUGIN` of each plugin.
    package var spaces: any KeyValueSpaces

    package init(routing: any PluginRouting, spaces: any KeyValueSpaces) {
        self.routing = routing
        self.spaces = spaces
    }
}
