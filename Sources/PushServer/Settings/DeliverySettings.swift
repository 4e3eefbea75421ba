package import Delivery
import FoundationEssentials
import PushModel
import PushRuntime

/// Settings for the connections to push services and for retries.
package struct DeliverySettings: Sendable, Equatable {
    /// Address to use in place of Apple's hosts; nil to use Apple's.
    package var apns: String?
    /// Path of a file with root certificates to trust in addition to the system's.
    var roots: String?
    /// Pinned keys of hosts: `host=sha256//BASE64`.
    var pins: [String] = []
    package var fcm = ServiceSettings()
    package var wns = ServiceSettings()
    package var webPush = ServiceSettings()
    /// Maximum time between the first and the last attempt for a device.
    var retryWindow: Duration = .seconds(1800)

    /// How long removed devices with invalid tokens can be restored.
    var prunedRetention: Duration = .seconds(86_400)

    /// How long plans are stored.
    var planRetention: Duration = .seconds(7 * 86_400)

    static let keepPrunedRange: ClosedRange<Duration> = .seconds(60)...(.seconds(30 * 86_400))
    static let retryWindows: ClosedRange<Duration> = .seconds(60)...(.seconds(86_400))
}

extension ServerSettings {
    static let deliverySettings: [Setting] = [
        Setting(
            "delivery.retry_window", .duration,
            "How long deliveries to a device are retried while its push service fails, from the first attempt: 1m to 24h.", default: "30m"
        ) { $0.delivery.retryWindow = $1.duration },
        Setting(
            "keep.pruned", .duration,
            "How long devices removed because their tokens are invalid can be restored (`pushhost pruned restore`): 1m to 30d.",
            default: "24h"
        ) { $0.delivery.prunedRetention = $1.duration },
        Setting(
            "keep.plans", .duration,
            "How long plans are stored (`pushhost plan`), the newest fifty of each hub: 1m to 30d. A plan that a notification uses stays "
                + "until the notification has ended.", default: "7d"
        ) { $0.delivery.planRetention = $1.duration },
        Setting(
            "apns.address", .url,
            "Address for hubs with APNs credentials in place of Apple's hosts, such as `pushhost simulate apns`, with HTTP/2 over TLS."
        ) { $0.delivery.apns = $1.text },
        Setting(
            "apns.roots", .text, "PEM root certificates trusted for APNs in addition to the system's, such as the simulator's certificate."
        ) { $0.delivery.roots = $1.text },
        Setting(
            "apns.pins", .list,
            "Pinned keys of hosts: `api.push.apple.com=sha256//…`, the SHA-256 of the key (SubjectPublicKeyInfo) in base64."
        ) { $0.delivery.pins = $1.list },
    ]
}

extension DeliverySettings {
    /// Invalid settings.
    var contradictions: [String] {
        var faults: [String] = []
        if !Self.retryWindows.contains(retryWindow) { faults.append("delivery.retry_window: must be between 1m and 24h") }
        if let apns, Self.route(apns) == nil {
            faults.append("apns.address: invalid address \"\(apns)\"; use https://host:port without a path")
        }
        if !Self.keepPrunedRange.contains(prunedRetention) { faults.append("keep.pruned: must be between 1m and 30d") }
        if !Self.keepPrunedRange.contains(planRetention) { faults.append("keep.plans: must be between 1m and 30d") }
        for pin in pins where Self.pin(pin) == nil { faults.append("apns.pins: invalid pin \"\(pin)\"; use host=sha256//BASE64") }
        faults += serviceContradictions
        return faults
    }

    /// Creates the transport to APNs. Throws `settings.invalid` if the root certificates cannot be read.
    func transport(random: any RandomSource) throws(PushError) -> HTTP2Transport {
        HTTP2Transport(route: apns.flatMap(Self.route), trust: try trust(), random: random)
    }

    /// Returns a function that creates transports for managing broadcast channels. Throws `settings.invalid` if the root certificates
    /// cannot be read.
    ///
    /// - Parameter network: rejects addresses that are not public, except one from the settings.
    func channelTransport(_ network: PublicNetwork?) throws(PushError) -> @Sendable (ClientIdentity?) -> HTTPClientTransport {
        let (address, trust) = (apns.flatMap { WebAddress($0) }, try trust())
        return { identity in
            HTTPClientTransport(route: address, network: address == nil ? network : nil, tls: trust.configuration(showing: identity))
        }
    }

    private func trust() throws(PushError) -> TLSTrust {
        var trust = try Self.trust(roots, "apns.roots")
        trust.pins = Dictionary(pins.compactMap(Self.pin)) { $1 }
        return trust
    }

    /// The system's root certificates, and those of the given file. Throws `settings.invalid`, which names the setting, if the file cannot
    /// be read.
    static func trust(_ roots: String?, _ setting: String) throws(PushError) -> TLSTrust {
        guard let roots else { return TLSTrust() }
        do {
            return TLSTrust(roots: .systemAnd(try TLSTrust.certificates(pem: TextFile.read(roots, limit: 1 << 20, kind: "PEM file"))))
        } catch {
            throw PushError("settings.invalid", "\(setting): \(roots): \(error.message)", hint: error.hint)
        }
    }

    /// The host and port that pushes to APNs go to.
    package func destination(_ environment: APNsSettings.Environment) -> String {
        (apns.flatMap(Self.route) ?? PushRoute(host: environment.host, port: 443)).destination
    }

    static func route(_ address: String) -> PushRoute? {
        guard let address = WebAddress(address), address.scheme == "https", ["", "/"].contains(address.path) else { return nil }
        return PushRoute(host: address.host, port: address.port ?? 443)
    }

    private static func pin(_ text: String) -> (host: String, digest: [UInt8])? {
        let parts = text.split(separator: "=" as Character, maxSplits: 1)
        guard parts.count == 2, parts[1].hasPrefix("sha256//"), let digest = Data(base64Encoded: String(parts[1].dropFirst(8))),
            digest.count == 32
        else { return nil }
        return (parts[0].lowercased(), [UInt8](digest))
    }
}

extension ServerSettings {
    /// Address of the push service simulators; nil without them. Throws `settings.invalid`.
    var simulatorRoute: WebAddress? {
        get throws(PushError) {
            guard let simulators else { return nil }
            guard let route = WebAddress(simulators) else {
                throw PushError(
                    "settings.invalid", "simulators: invalid address \"\(simulators)\"",
                    hint: "use an address such as http://127.0.0.1:8090")
            }
            return route
        }
    }
}
