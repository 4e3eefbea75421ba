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

extension WNSSettings {
    /// What can be known without asking Microsoft. Throws `credential.invalid`.
    package func check() throws(PushError) {
        let numbers = packageSID.lowercased().dropFirst(Self.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard packageSID.lowercased().hasPrefix(Self.prefix),
            numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { throw .invalidCredential("\"\(packageSID.excerpt)\" is no package SID: \(Self.why(packageSID))", Self.cure) }
        let secret = clientSecret.reveal()
        guard !secret.isEmpty, secret.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .invalidCredential(
                secret.isEmpty ? "the client secret is empty" : "the client secret has blanks, line ends or characters outside of ASCII",
                "copy the app's secret from Partner Center, alone")
        }
        guard let endpoint = WebAddress(tokenURI), endpoint.scheme == "https" else {
            throw .invalidCredential("the token URI of WNS is no https: URI", "use \(Self.tokenURI)")
        }
    }

    private static let prefix = "ms-app://s-1-15-2-"
    private static let cure =
        "pass the app's package SID from Partner Center, Product management, WNS/MPNS: ms-app://s-1-15-2- and seven numbers"

    private static func why(_ text: String) -> String {
        if text.lowercased().hasPrefix("s-1-15-2-") { return "ms-app:// is missing before it" }
        if text.count == 36, text.utf8.count(where: { $0 == UInt8(ascii: "-") }) == 4 {
            return "it is the id of an app in Azure, whose tokens come from elsewhere; apps with such channels are not supported"
        }
        return "it is not \(prefix) with numbers behind it"
    }
}
