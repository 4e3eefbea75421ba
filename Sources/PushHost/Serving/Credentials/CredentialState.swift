import Delivery
import PushCore

/// What a hub sends with, and how long that is good; without anything secret.
struct CredentialState: Sendable, Equatable {
    var hub: String
    var platform: Platform = .apns
    /// Whether it is from the files of the settings, and not the hub's own.
    var isFromFiles = false
    /// `token` or `certificate`; nil where it cannot be used at all.
    var kind: String?
    var topic: String?
    var environment: String?
    /// Of a certificate.
    var expires: Timestamp?
    /// When the provider token that is in use was signed.
    var tokenIssued: Timestamp?
    /// Why it cannot be used, or, with a kind, why what was put in its place is not.
    var fault: String?
    var hint: String?
}

extension CredentialState {
    init(hub: String, isFromFiles: Bool = false, _ settings: APNsSettings, tokenIssued: Timestamp?, fault: PushError? = nil) {
        self.init(
            hub: hub, isFromFiles: isFromFiles, kind: settings.certificate == nil ? "token" : "certificate", topic: settings.topic,
            environment: settings.environment.rawValue, expires: settings.certificate?.expires, tokenIssued: tokenIssued,
            fault: fault?.message, hint: fault?.hint)
    }

    init(hub: String, isFromFiles: Bool = false, _ fault: PushError) {
        self.init(hub: hub, isFromFiles: isFromFiles, kind: nil, fault: fault.message, hint: fault.hint)
    }

    /// For `pushhost doctor`.
    var json: JSON {
        var members = JSONObject([
            ("hub", .string(hub)), ("platform", .string(platform.rawValue)), ("source", .string(isFromFiles ? "settings" : "hub")),
        ])
        for (name, text) in [("kind", kind), ("topic", topic), ("environment", environment), ("fault", fault), ("hint", hint)] {
            if let text { members.append(name, .string(text)) }
        }
        if let expires { members.append("expires", .integer(expires.seconds)) }
        return .object(members)
    }

    init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let platform = json["platform"]?.string.flatMap(Platform.init(rawValue:)) else { return nil }
        self.init(
            hub: hub, platform: platform, isFromFiles: json["source"]?.string == "settings", kind: json["kind"]?.string,
            topic: json["topic"]?.string, environment: json["environment"]?.string,
            expires: json["expires"]?.int.map { Timestamp(seconds: Int64($0)) }, fault: json["fault"]?.string,
            hint: json["hint"]?.string)
    }
}
