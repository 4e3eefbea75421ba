import Delivery
import PushModel

/// Settings for the connection to FCM, WNS or Web Push.
package struct ServiceSettings: Sendable, Equatable {
    /// Address to use in place of the service's own hosts; nil to use those.
    package var address: String?
    /// Path of a file with root certificates to trust in addition to the system's.
    var roots: String?
    /// Additional hosts or origins that a device's handle may name, even if they are not public.
    package var allowedHosts: [String] = []
}

extension ServerSettings {
    static let serviceSettings: [Setting] = [
        Setting(
            "fcm.address", .url,
            "Address that serves FCM and its tokens in place of Google's hosts, such as `pushhost simulate fcm`, with HTTP/2 "
                + "over TLS."
        ) { $0.delivery.fcm.address = $1.text },
        Setting(
            "fcm.roots", .text, "PEM root certificates trusted for FCM in addition to the system's, such as the simulator's certificate."
        ) { $0.delivery.fcm.roots = $1.text },
        Setting(
            "wns.address", .url,
            "Address that serves WNS and its tokens in place of Microsoft's hosts, such as `pushhost simulate wns`."
        ) { $0.delivery.wns.address = $1.text },
        Setting(
            "wns.roots", .text, "PEM root certificates trusted for WNS in addition to the system's, such as the simulator's certificate."
        ) { $0.delivery.wns.roots = $1.text },
        Setting(
            "wns.channel_hosts", .list,
            "Hosts that channels may have in addition to `*.notify.windows.com`, such as `localhost:8091`; they are contacted directly, "
                + "even at private addresses, and receive the access token."
        ) { $0.delivery.wns.allowedHosts = $1.list },
        Setting(
            "webpush.origins", .list,
            "Origins of Web Push services that are allowed although they are not public, such as `https://localhost:8091`."
        ) { $0.delivery.webPush.allowedHosts = $1.list },
        Setting(
            "webpush.roots", .text,
            "PEM root certificates trusted for Web Push in addition to the system's, such as the certificate of your own push service."
        ) { $0.delivery.webPush.roots = $1.text },
    ]
}

extension DeliverySettings {
    /// Invalid settings of FCM, WNS and Web Push.
    var serviceContradictions: [String] {
        var faults: [String] = []
        if let address = fcm.address, Self.route(address) == nil {
            faults.append("fcm.address: invalid address \"\(address)\"; use https://host:port without a path")
        }
        if let address = wns.address, Self.origin(address) == nil {
            faults.append("wns.address: invalid address \"\(address)\"; use http(s)://host:port without a path")
        }
        for host in wns.allowedHosts where !Self.isChannelHost(host) {
            faults.append("wns.channel_hosts: invalid host \"\(host)\"; use host, host:port, *.domain or http://host:port")
        }
        for origin in webPush.allowedHosts where Self.origin(origin)?.scheme != "https" {
            faults.append("webpush.origins: invalid origin \"\(origin)\"; use https://host:port without a path")
        }
        return faults
    }

    static func origin(_ text: String) -> WebAddress? {
        WebAddress(text).flatMap { $0.path == "/" ? $0 : nil }
    }

    private static func isChannelHost(_ text: String) -> Bool {
        if text.hasPrefix("http://") { return origin(text) != nil && !text.hasSuffix("/") }
        let host = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        return WebAddress("https://\(host)")?.authority == host.lowercased() && (host == text || !host.contains(":"))
    }
}
