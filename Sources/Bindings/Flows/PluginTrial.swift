import PushModel

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
