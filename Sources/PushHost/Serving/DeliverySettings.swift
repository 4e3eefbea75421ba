import Delivery
import FoundationEssentials
import PushCore

/// How the server reaches the push services.
struct DeliverySettings: Sendable, Equatable {
    /// Where something else answers in place of Apple's hosts; nil for those.
    var apns: String?
    /// File of roots that are trusted beside the machine's.
    var roots: String?
    /// Hosts with the keys that they must have: `host=sha256//BASE64`.
    var pins: [String] = []
    var fcm = ServiceSettings()
    var wns = ServiceSettings()
    var webPush = ServiceSettings()
    /// From a device's first attempt to its last.
    var retryWindow: Duration = .seconds(1800)

    /// How long devices whose handles died are kept aside.
    var keepPruned: Duration = .seconds(86_400)

    /// How long plans are kept.
    var keepPlans: Duration = .seconds(7 * 86_400)

    static let keepPrunedRange: ClosedRange<Duration> = .seconds(60)...(.seconds(30 * 86_400))
    static let retryWindows: ClosedRange<Duration> = .seconds(60)...(.seconds(86_400))
}

extension ServerSettings {
    static let deliverySettings: [Setting] = [
        Setting(
            "delivery.retry_window", .duration,
            "How long a device is tried for where its push service has trouble, from its first attempt on: 1m to 24h.", default: "30m"
        ) { $0.delivery.retryWindow = $1.duration },
        Setting(
            "keep.pruned", .duration,
            "How long devices that left because their handles were dead can be brought back (`pushhost pruned restore`): 1m to 30d.",
            default: "24h"
        ) { $0.delivery.keepPruned = $1.duration },
        Setting(
            "keep.plans", .duration,
            "How long plans are kept (`pushhost plan`), the newest fifty of each hub: 1m to 30d. One that a notification is bound to stays "
                + "until that has ended.", default: "7d"
        ) { $0.delivery.keepPlans = $1.duration },
        Setting(
            "apns.address", .url,
            "Where hubs with APNs credentials send in place of Apple's hosts: `pushhost simulate apns`, with HTTP/2 over TLS."
        ) { $0.delivery.apns = $1.text },
        Setting("apns.roots", .text, "Roots in PEM that are trusted for APNs beside the machine's, such as the simulator's certificate.") {
            $0.delivery.roots = $1.text
        },
        Setting(
            "apns.pins", .list,
            "Hosts that must have a known key: `api.push.apple.com=sha256//…`, the SHA-256 of the key (SubjectPublicKeyInfo) in base64."
        ) { $0.delivery.pins = $1.list },
    ]
}

extension DeliverySettings {
    /// What cannot be used.
    var contradictions: [String] {
        var faults: [String] = []
        if !Self.retryWindows.contains(retryWindow) { faults.append("delivery.retry_window: it has to be between 1m and 24h") }
        if let apns, Self.route(apns) == nil {
            faults.append("apns.address: \"\(apns)\" is no https:// address of host and port alone")
        }
        if !Self.keepPrunedRange.contains(keepPruned) { faults.append("keep.pruned: it has to be between 1m and 30d") }
        if !Self.keepPrunedRange.contains(keepPlans) { faults.append("keep.plans: it has to be between 1m and 30d") }
        for pin in pins where Self.pin(pin) == nil { faults.append("apns.pins: \"\(pin)\" is not of the form host=sha256//BASE64") }
        faults += serviceContradictions
        return faults
    }

    /// Connections to APNs. Throws `settings.invalid` for roots that cannot be read.
    func transport(random: any RandomSource) throws(PushError) -> HTTP2Transport {
        HTTP2Transport(route: apns.flatMap(Self.route), trust: try trust(), random: random)
    }

    /// Makes connections for the administration of broadcast channels. Throws `settings.invalid` for roots that cannot be read.
    ///
    /// - Parameter network: what refuses addresses that are not public, but for one that is set.
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

    /// The roots of the machine, and those of a file where one is given. Throws `settings.invalid`, with the name of the setting, where
    /// it cannot be read.
    static func trust(_ roots: String?, _ setting: String) throws(PushError) -> TLSTrust {
        guard let roots else { return TLSTrust() }
        do {
            return TLSTrust(roots: .systemAnd(try TLSTrust.certificates(pem: TextFile.read(roots, limit: 1 << 20, kind: "PEM file"))))
        } catch {
            throw PushError("settings.invalid", "\(setting): \(roots): \(error.message)", hint: error.hint)
        }
    }

    /// Where pushes to APNs really go: host and port.
    func destination(_ environment: APNsSettings.Environment) -> String {
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
    /// Where simulators of the push services answer; nil without them. Throws `settings.invalid`.
    var simulatorRoute: WebAddress? {
        get throws(PushError) {
            guard let simulators else { return nil }
            guard let route = WebAddress(simulators) else {
                throw PushError(
                    "settings.invalid", "\"\(simulators)\" is no address of simulators", hint: "write http://127.0.0.1:8090")
            }
            return route
        }
    }
}
