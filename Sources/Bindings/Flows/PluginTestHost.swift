package import Lua
package import PushModel

/// Activates plugins under test in a world, and finds their routes.
package protocol PluginTestHost: PluginRouting {
    /// Loads a plugin and makes it live, in place of another version of it. Throws `plugin.*` and errors of the script.
    func activate(_ source: PluginSource, _ trial: PluginTrial) async throws(LuaError)
}

/// The configuration of a plugin under test, and the services that replace those of the host.
package struct PluginTrial: Sendable {
    var values: JSON
    /// Nil grants all that the plugin needs.
    var grants: [Capability]?
    /// The script that configures it, for errors.
    var file: String
    var http: any OutboundHTTP
    var secrets: any SecretSource
    /// Receives messages of the plugin, besides the host.
    var onMessage: @Sendable (PluginMessage) -> Void
}
