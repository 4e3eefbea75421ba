import PushCore
import WebAPI

/// What a hub sends with, and how long that is good; without anything secret.
struct CredentialState: Sendable, Equatable {
    var hub: String
    var credential: HubCredential
    /// When the provider token that is in use was signed.
    var tokenIssued: Timestamp?
    /// What to do about its fault.
    var hint: String?

    var platform: Platform { credential.platform }
    var isFromSettings: Bool { credential.setting != nil }
    /// Whether something can be sent with it.
    var isUsable: Bool { credential.kind != nil }
}

extension CredentialState {
    init(
        hub: String, setting: String? = nil, _ settings: SenderSettings, address: String? = nil, tokenIssued: Timestamp? = nil,
        fault: PushError? = nil
    ) {
        var credential = settings.credential(setting: setting)
        (credential.address, credential.fault) = (address, fault?.message)
        self.init(hub: hub, credential: credential, tokenIssued: tokenIssued, hint: fault?.hint)
    }

    init(hub: String, _ platform: Platform, setting: String? = nil, _ fault: PushError) {
        var credential = HubCredential(platform: platform, setting: setting)
        credential.fault = fault.message
        self.init(hub: hub, credential: credential, hint: fault.hint)
    }

    /// For whoever manages the hub: of the files of the settings he is told what they are, and not where they lie.
    var shown: HubCredential {
        var shown = credential
        if let setting = shown.setting, shown.fault != nil {
            shown.fault = "\(setting), as it is now, cannot be used; pushhost doctor says why"
        }
        return shown
    }

    /// For `pushhost doctor`.
    var json: JSON {
        .object(
            JSONObject(
                [("hub", .string(hub)), ("credential", credential.json)] + (hint.map { [("hint", .string($0))] } ?? [])))
    }

    init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let credential = json["credential"].flatMap({ HubCredential($0) }) else { return nil }
        self.init(hub: hub, credential: credential, hint: json["hint"]?.string)
    }
}
