package import PushModel
package import WebAPI

/// The credential that a hub sends with and its expiry, without secrets.
package struct CredentialState: Sendable, Equatable {
    package var hub: String
    package var credential: HubCredential
    /// When the provider token in use was signed.
    var tokenIssued: Timestamp?
    /// How to fix its fault.
    package var hint: String?

    package init(hub: String, credential: HubCredential, tokenIssued: Timestamp? = nil, hint: String? = nil) {
        self.hub = hub
        self.credential = credential
        self.tokenIssued = tokenIssued
        self.hint = hint
    }

    package var platform: Platform { credential.platform }
    package var isFromSettings: Bool { credential.setting != nil }
    /// Whether the hub can send with it.
    package var isUsable: Bool { credential.kind != nil }
}

extension CredentialState {
    package init(
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

    /// The credential as the hub's managers see it: faults in the settings' files are shown without paths.
    var shown: HubCredential {
        var shown = credential
        if let setting = shown.setting, shown.fault != nil {
            shown.fault = "\(setting) cannot be used; for the reason run pushhost doctor"
        }
        return shown
    }

    /// The document that `pushhost doctor` reads.
    var json: JSON {
        .object(
            JSONObject(
                [("hub", .string(hub)), ("credential", credential.json)] + (hint.map { [("hint", .string($0))] } ?? [])))
    }

    package init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let credential = json["credential"].flatMap({ HubCredential($0) }) else { return nil }
        self.init(hub: hub, credential: credential, hint: json["hint"]?.string)
    }
}
