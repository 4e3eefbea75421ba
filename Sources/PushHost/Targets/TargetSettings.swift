import PushCore

/// A target as the settings describe it, or as much of it as the command line does.
struct TargetSettings: Sendable, Equatable {
    /// As reports show it; never with a key.
    var name: String
    /// Of a PushHost.
    var url: String?
    /// To a hub of Azure, or of a PushHost.
    var connection: Secret?
    var hub: String?
    var backend: String?
    /// A file of certificates in PEM.
    var authority: String?
    /// Of the server's lab.
    var labKey: Secret?
    /// Whether sends ask first.
    var isProduction = false
    /// How long an answer may take.
    var timeout: Duration = .seconds(30)
    /// How long the outcome of a send is waited for.
    var patience: Duration = .seconds(10)
    /// Real handles, by the names that scripts give their devices.
    var devices: [String: DeviceHandle] = [:]
}
