import HubWire
package import PushModel

/// A target from the settings file or from the command line.
package struct TargetSettings: Sendable, Equatable {
    /// The name of the target in this process, which needs no settings.
    package static let embedded = "embedded"

    /// The name in reports; never contains a key.
    package var name: String
    /// URL of a PushHost.
    package var url: String?
    /// Connection string of a hub of Azure or PushHost.
    package var connection: Secret?
    package var hub: String?
    package var backend: String?
    /// Path of a file with CA certificates in PEM.
    package var authority: String?
    /// Key of the server's lab.
    package var labKey: Secret?
    /// Whether sends must be confirmed.
    package var isProduction = false
    /// Timeout of each request.
    package var timeout: Duration = .seconds(30)
    /// How long to wait for the outcome of a send.
    package var outcomeWait: Duration = .seconds(10)
    /// Handles of real devices, by the device names in scripts.
    package var devices: [String: DeviceHandle] = [:]

    package init(name: String, url: String? = nil, connection: Secret? = nil) {
        self.name = name
        self.url = url
        self.connection = connection
    }
}

extension TargetSettings {
    /// Validates a server's address and removes trailing slashes. Nil if it is invalid.
    package static func address(_ text: String) -> String? {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        guard let match = text.wholeMatch(of: /(https?):\/\/([^\/?#@]+)(\/[^?#]*)?/.ignoresCase()) else { return nil }
        return Authority.isValid(match.2) ? text : nil
    }
}
