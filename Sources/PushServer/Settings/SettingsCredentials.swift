import Delivery
import Glibc
import PushModel

/// The FCM service account in the settings.
struct FCMFiles: CredentialSource, Equatable {
    /// Path of the service account's JSON key file.
    var serviceAccount: String?

    let kind = PlatformCredential.Kind.fcmV1
    let setting = "fcm.service_account"
    var isGiven: Bool { serviceAccount != nil }
    var files: [String?] { [serviceAccount] }

    func sender() throws(PushError) -> SenderSettings {
        guard let serviceAccount else { throw .noCredential("FCM", setting) }
        do throws(PushError) {
            let settings = try FCMSettings(serviceAccount: try CredentialFile.read(serviceAccount))
            try settings.check()
            return .fcm(settings)
        } catch {
            throw CredentialFile.fault(serviceAccount, error)
        }
    }
}

/// The WNS credential in the settings: the app's identity in the Microsoft Store.
struct WNSFiles: CredentialSource, Equatable {
    var packageSID: String?
    var clientSecret: Secret?
    /// Path of a file that contains only the secret.
    var clientSecretFile: String?

    let kind = PlatformCredential.Kind.wns
    let setting = "wns.package_sid"
    var isGiven: Bool { packageSID != nil }
    var files: [String?] { [clientSecretFile] }

    func sender() throws(PushError) -> SenderSettings {
        guard let packageSID, let secret = try clientSecretFile.map(CredentialFile.line) ?? clientSecret else {
            throw .noCredential("WNS", "wns.*")
        }
        let settings = WNSSettings(packageSID: packageSID, clientSecret: secret)
        try settings.check()
        return .wns(settings)
    }

    var contradictions: [String] {
        var faults: [String] = []
        if clientSecret != nil, clientSecretFile != nil {
            faults.append("wns.client_secret and wns.client_secret_file cannot be combined: set one of them")
        }
        let isSecretGiven = clientSecret != nil || clientSecretFile != nil
        if packageSID != nil, !isSecretGiven {
            faults.append("wns.package_sid also needs wns.client_secret or wns.client_secret_file")
        }
        if packageSID == nil, isSecretGiven { faults.append("the client secret of wns.* also needs wns.package_sid") }
        return faults
    }
}

/// The VAPID key pair of Web Push in the settings.
struct WebPushFiles: CredentialSource, Equatable {
    var subject: String?
    /// The path of a file with the private key, or the key itself.
    var key: Secret?

    let kind = PlatformCredential.Kind.browser
    let setting = "webpush.key"
    var isGiven: Bool { key != nil }
    var files: [String?] { [keyFile] }

    /// The path of the key file; nil if the setting is the key itself.
    private var keyFile: String? {
        key.flatMap { key in
            let text = key.reveal()
            // Base64 may contain slashes: text that is a valid key is a path only if that file exists.
            return VAPIDKeyText(text).isKey && !(text.contains("/") && access(text, F_OK) == 0) ? nil : text
        }
    }

    func sender() throws(PushError) -> SenderSettings {
        guard let subject, let key else { throw .noCredential("Web Push", "webpush.*") }
        let path = keyFile
        do throws(PushError) {
            let text = try path.map { path throws(PushError) in Secret(CredentialText.text(ofFile: try CredentialFile.read(path))) }
            let settings = try WebPushSettings(subject: subject, privateKey: text ?? key)
            try settings.checkSigning()
            return .webPush(settings)
        } catch {
            throw path.map { CredentialFile.fault($0, error) } ?? error
        }
    }

    var contradictions: [String] {
        switch (subject, key) {
        case (nil, nil), (_?, _?): []
        case (nil, _?): ["webpush.key also needs webpush.subject"]
        case (_?, nil): ["webpush.subject also needs webpush.key"]
        }
    }
}

extension ServerSettings {
    /// The credentials that the settings contain, for hubs without their own.
    package var credentialSources: [any CredentialSource] {
        let all: [any CredentialSource] = [apns, fcm, wns, webPush]
        return isLab ? [] : all.filter(\.isGiven)
    }

    static let credentialSettings: [Setting] = [
        Setting(
            "fcm.service_account", .text,
            "Service account of FCM (the JSON file of its key), for hubs without their own FCM credential."
        ) { $0.fcm.serviceAccount = $1.text },
        Setting(
            "wns.package_sid", .text, "Package SID of the Windows app (`ms-app://…`), for hubs without their own WNS credential."
        ) { $0.wns.packageSID = $1.text },
        Setting("wns.client_secret", .text, "Its client secret. Best given as `PUSHHOST_WNS_CLIENT_SECRET`, or in a file.") {
            $0.wns.clientSecret = Secret($1.text)
        },
        Setting("wns.client_secret_file", .text, "File that contains only the client secret.") { $0.wns.clientSecretFile = $1.text },
        Setting(
            "webpush.subject", .text,
            "Contact for the push services of browsers: `mailto:` and an address, or an `https:` address, on a public host; Apple rejects "
                + "others."
        ) { $0.webPush.subject = $1.text },
        Setting(
            "webpush.key", .text,
            "VAPID key of Web Push, for hubs without their own: a PEM file, or the private key itself, 32 bytes in base64url; "
                + "that is best given as `PUSHHOST_WEBPUSH_KEY`."
        ) { $0.webPush.key = Secret($1.text) },
    ]
}

extension PushError {
    fileprivate static func noCredential(_ service: String, _ settings: String) -> PushError {
        PushError("credential.invalid", "the settings contain no \(service) credential", hint: "set \(settings)")
    }
}
