package import PushModel

/// An app's credential in the Microsoft Store ("How to authenticate with the Windows Push Notification Service").
package struct WNSSettings: Sendable {
    package static let tokenURI = "https://login.live.com/accesstoken.srf"
    package static let channelHosts = ["*.notify.windows.com"]

    /// The package security identifier: `ms-app://s-1-15-2-…`.
    package var packageSID: String
    package var clientSecret: Secret
    /// Hosts that channel URIs may use. A channel URI comes from a device, and the access token must not be sent elsewhere. `*.` matches
    /// one or more labels; the prefix `http://` allows plain HTTP, for a simulator on this machine.
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

    /// Whether the channel's host is one of `hosts`, written as in ``channelHosts``.
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
    /// Checks what can be checked without asking Microsoft. Throws `credential.invalid`.
    package func check() throws(PushError) {
        let numbers = packageSID.lowercased().dropFirst(Self.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard packageSID.lowercased().hasPrefix(Self.prefix),
            numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { throw .invalidCredential("invalid package SID \"\(packageSID.excerpt)\": \(Self.why(packageSID))", Self.fix) }
        let secret = clientSecret.reveal()
        guard !secret.isEmpty, secret.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .invalidCredential(
                secret.isEmpty ? "the client secret is empty" : "the client secret contains whitespace or non-ASCII characters",
                "copy only the app's secret from Partner Center")
        }
        guard let endpoint = WebAddress(tokenURI), endpoint.scheme == "https" else {
            throw .invalidCredential("the token URI of WNS is not an https: URI", "use \(Self.tokenURI)")
        }
    }

    private static let prefix = "ms-app://s-1-15-2-"
    private static let fix =
        "pass the app's package SID from Partner Center, Product management, WNS/MPNS: ms-app://s-1-15-2- and seven numbers"

    private static func why(_ text: String) -> String {
        if text.lowercased().hasPrefix("s-1-15-2-") { return "it must begin with ms-app://" }
        if text.count == 36, text.utf8.count(where: { $0 == UInt8(ascii: "-") }) == 4 {
            return "it is the id of an Azure app registration; apps with such channels are not supported"
        }
        return "it is not \(prefix) followed by numbers"
    }
}
