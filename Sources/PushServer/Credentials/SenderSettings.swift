package import Delivery
import PushModel
package import WebAPI

/// The credentials of a hub for one push service, from which its connector is created.
package enum SenderSettings: Sendable {
    case apns(APNsSettings)
    case fcm(FCMSettings)
    case wns(WNSSettings)
    case webPush(WebPushSettings)

    /// Checks the credentials without contacting the push service. Throws `credential.invalid`.
    func check(now: Timestamp) throws(PushError) {
        switch self {
        case .apns(let settings): try settings.check(now: now)
        case .fcm(let settings): try settings.check()
        case .wns(let settings): try settings.check()
        case .webPush(let settings): try settings.check()
        }
    }

    /// The description without secrets.
    ///
    /// - Parameter setting: the setting that it is from; nil for a hub's own credential.
    func credential(setting: String?) -> HubCredential {
        switch self {
        case .apns(let settings):
            var shown = HubCredential(platform: .apns, setting: setting, kind: settings.certificate == nil ? .token : .certificate)
            (shown.topic, shown.environment) = (settings.topic, settings.environment.rawValue)
            shown.expires = settings.certificate?.expires
            return shown
        case .fcm(let settings):
            var shown = HubCredential(platform: .fcmV1, setting: setting, kind: .serviceAccount)
            (shown.project, shown.account) = (settings.projectID, settings.clientEmail)
            return shown
        case .wns(let settings):
            var shown = HubCredential(platform: .wns, setting: setting, kind: .clientSecret)
            shown.packageSID = settings.packageSID
            return shown
        case .webPush(let settings):
            var shown = HubCredential(platform: .browser, setting: setting, kind: .vapid)
            (shown.subject, shown.publicKey) = (settings.subject, settings.publicKey)
            return shown
        }
    }
}

extension PlatformCredential.Kind {
    /// The credential kinds that PushHost sends with, and the platforms that each reaches.
    static let senders: [(kind: PlatformCredential.Kind, platforms: Set<Platform>)] = [
        (.apns, [.apns]), (.fcmV1, [.fcmV1, .gcm]), (.wns, [.wns]), (.browser, [.browser]),
    ]
}

extension HubDescription {
    /// Checks the credentials that were added or changed. Throws `credential.invalid`. Unchanged credentials are not checked: an expired
    /// certificate must not block other changes.
    func checkCredentials(before: HubDescription?, now: Timestamp) throws(PushError) {
        for (kind, _) in PlatformCredential.Kind.senders {
            guard let credential = credentials[kind], !credential.isEmpty, credential != before?.credentials[kind] else { continue }
            try StoredCredential(credential).settings(kind).check(now: now)
        }
    }
}

extension HubCredential {
    /// A short description, for example `token for com.example.app, production`; empty if the kind is unknown.
    package var words: String {
        switch kind {
        case .token?, .certificate?: "\(kind?.rawValue ?? "") for \(topic ?? ""), \(environment ?? "")"
        case .serviceAccount?: "service account \(account ?? "") for the project \(project ?? "")"
        case .clientSecret?: "client secret for \(packageSID ?? "")"
        case .vapid?: "VAPID key \(publicKey ?? "") of \(subject ?? "")"
        case nil: ""
        }
    }
}
