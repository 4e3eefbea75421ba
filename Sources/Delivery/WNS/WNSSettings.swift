import PushCore

/// An app's identity in the Microsoft Store ("How to authenticate with the Windows Push Notification Service").
package struct WNSSettings: Sendable {
    package static let tokenURI = "https://login.live.com/accesstoken.srf"
    package static let channelHosts = ["*.notify.windows.com"]

    /// `ms-app://s-1-15-2-…`
    package var packageSID: String
    package var clientSecret: Secret
    /// Where channels may live. A channel URI comes from a device; the access token must not follow it anywhere else.
    /// `*.` stands for one or more labels; `http://` before a host allows plain HTTP, for a simulator in this machine.
    package var channelHosts: [String]
    package var tokenURI: String

    package init(
        packageSID: String, clientSecret: Secret, channelHosts: [String] = WNSSettings.channelHosts,
        tokenURI: String = WNSSettings.tokenURI
    ) {
        self.packageSID = packageSID
        self.clientSecret = clientSecret
        self.channelHosts = channelHosts
        self.tokenURI = tokenURI
    }

    func allows(_ channel: WebAddress) -> Bool { Self.hosts(channelHosts, contain: channel) }

    /// Whether a channel lives on one of the hosts, which are written as in ``channelHosts``.
    package static func hosts(_ hosts: [String], contain channel: WebAddress) -> Bool {
        hosts.contains { entry in
            let isPlain = entry.hasPrefix("http://")
            guard channel.scheme == (isPlain ? "http" : "https") else { return false }
            let pattern = (isPlain ? String(entry.dropFirst("http://".count)) : entry).lowercased()
            if pattern.hasPrefix("*.") {
                let suffix = pattern.dropFirst()
                return channel.port == nil && channel.host.hasSuffix(suffix) && channel.host.count > suffix.count
            }
            return pattern == channel.authority
        }
    }
}
