import Delivery
import PushCore

/// How the server reaches one of the push services besides APNs.
struct ServiceSettings: Sendable, Equatable {
    /// Where something else answers in its place; nil for its own hosts.
    var address: String?
    /// File of roots that are trusted beside the machine's.
    var roots: String?
    /// Places that a device may name although they are none of the service's, or not public.
    var places: [String] = []
}

extension ServerSettings {
    static let serviceSettings: [Setting] = [
        Setting(
            "fcm.address", .url,
            "Where hubs with FCM credentials send, and get their tokens, in place of Google's hosts: `pushhost simulate fcm`, with HTTP/2 "
                + "over TLS."
        ) { $0.delivery.fcm.address = $1.text },
        Setting("fcm.roots", .text, "Roots in PEM that are trusted for FCM beside the machine's, such as the simulator's certificate.") {
            $0.delivery.fcm.roots = $1.text
        },
        Setting(
            "wns.address", .url,
            "Where hubs with WNS credentials send, and get their tokens, in place of Microsoft's hosts: `pushhost simulate wns`."
        ) { $0.delivery.wns.address = $1.text },
        Setting("wns.roots", .text, "Roots in PEM that are trusted for WNS beside the machine's, such as the simulator's certificate.") {
            $0.delivery.wns.roots = $1.text
        },
        Setting(
            "wns.channel_hosts", .list,
            "Hosts that channels may have beside `*.notify.windows.com`, such as `localhost:8091`; they are spoken to directly, wherever "
                + "they are, and get the access token."
        ) { $0.delivery.wns.places = $1.list },
        Setting(
            "webpush.origins", .list,
            "Origins of push services for browsers that are reached although they are not public, such as `https://localhost:8091`."
        ) { $0.delivery.webPush.places = $1.list },
        Setting(
            "webpush.roots", .text,
            "Roots in PEM that are trusted for Web Push beside the machine's, such as the certificate of a push service of one's own."
        ) { $0.delivery.webPush.roots = $1.text },
    ]
}

extension DeliverySettings {
    /// What cannot be used of the settings of FCM, WNS and Web Push.
    var serviceContradictions: [String] {
        var faults: [String] = []
        if let address = fcm.address, Self.route(address) == nil {
            faults.append("fcm.address: \"\(address)\" is no https:// address of host and port alone")
        }
        if let address = wns.address, Self.origin(address) == nil {
            faults.append("wns.address: \"\(address)\" is no address of scheme, host and port alone")
        }
        for host in wns.places where !Self.isChannelHost(host) {
            faults.append("wns.channel_hosts: \"\(host)\" is none of host, host:port, *.domain and http://host:port")
        }
        for origin in webPush.places where Self.origin(origin)?.scheme != "https" {
            faults.append("webpush.origins: \"\(origin)\" is no https:// address of host and port alone")
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
