import Delivery
import PushCore
import WebAPI

/// What a hub sends with, and how long that is good; without anything secret.
struct CredentialState: Sendable, Equatable {
    var hub: String
    var platform: Platform = .apns
    /// The setting that it is from; nil for the hub's own.
    var setting: String?
    /// `token` or `certificate`; nil where it cannot be used at all.
    var kind: String?
    var topic: String?
    var environment: String?
    /// Where pushes go: host and port.
    var address: String?
    /// Of a certificate.
    var expires: Timestamp?
    /// When the provider token that is in use was signed.
    var tokenIssued: Timestamp?
    /// Why it cannot be used, or, with a kind, why what was put in its place is not.
    var fault: String?
    var hint: String?

    var isFromFiles: Bool { setting != nil }
}

extension CredentialState {
    init(
        hub: String, setting: String? = nil, _ settings: APNsSettings, address: String? = nil, tokenIssued: Timestamp?,
        fault: PushError? = nil
    ) {
        self.init(
            hub: hub, setting: setting, kind: settings.certificate == nil ? "token" : "certificate", topic: settings.topic,
            environment: settings.environment.rawValue, address: address, expires: settings.certificate?.expires, tokenIssued: tokenIssued,
            fault: fault?.message, hint: fault?.hint)
    }

    init(hub: String, setting: String? = nil, _ fault: PushError) {
        self.init(hub: hub, setting: setting, kind: nil, fault: fault.message, hint: fault.hint)
    }

    /// For whoever manages the hub: of the files of the settings he is told what they are, and not where they lie.
    var credential: HubCredential {
        HubCredential(
            platform: platform, setting: setting, kind: kind, topic: topic, environment: environment, address: address, expires: expires,
            fault: fault.map { isFromFiles ? "\(setting ?? ""), as it is now, cannot be used; pushhost doctor says why" : $0 })
    }

    /// For `pushhost doctor`.
    var json: JSON {
        var members = JSONObject([
            ("hub", .string(hub)), ("platform", .string(platform.rawValue)), ("source", .string(isFromFiles ? "settings" : "hub")),
        ])
        for (name, text) in [
            ("setting", setting), ("kind", kind), ("topic", topic), ("environment", environment), ("address", address), ("fault", fault),
            ("hint", hint),
        ] {
            if let text { members.append(name, .string(text)) }
        }
        if let expires { members.append("expires", .integer(expires.seconds)) }
        return .object(members)
    }

    init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let platform = json["platform"]?.string.flatMap(Platform.init(rawValue:)) else { return nil }
        self.init(
            hub: hub, platform: platform, setting: json["setting"]?.string, kind: json["kind"]?.string,
            topic: json["topic"]?.string, environment: json["environment"]?.string, address: json["address"]?.string,
            expires: json["expires"]?.int.map { Timestamp(seconds: Int64($0)) }, fault: json["fault"]?.string,
            hint: json["hint"]?.string)
    }
}
