import Delivery
import Glibc
import PushCore

/// The service account of FCM that the settings name.
struct FCMFiles: CredentialSource, Equatable {
    /// The JSON file of its key.
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

/// The app's identity in the Microsoft Store that the settings name.
struct WNSFiles: CredentialSource, Equatable {
    var packageSID: String?
    var clientSecret: Secret?
    /// A file with the secret in it, alone.
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
            faults.append("wns.client_secret and wns.client_secret_file exclude each other: give one of them")
        }
        let isSecretGiven = clientSecret != nil || clientSecretFile != nil
        if packageSID != nil, !isSecretGiven {
            faults.append("wns.package_sid needs wns.client_secret or wns.client_secret_file beside it")
        }
        if packageSID == nil, isSecretGiven { faults.append("the client secret of wns.* needs wns.package_sid beside it") }
        return faults
    }
}

/// The key pair of Web Push that the settings name.
struct WebPushFiles: CredentialSource, Equatable {
    var subject: String?
    /// The path of a file with the private key, or the key itself.
    var key: Secret?

    let kind = PlatformCredential.Kind.browser
    let setting = "webpush.key"
    var isGiven: Bool { key != nil }
    var files: [String?] { [keyFile] }

    /// Nil where the key itself is given.
    private var keyFile: String? {
        key.flatMap { key in
            let text = key.reveal()
            // Base64 has slashes, too.
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
        case (nil, _?): ["webpush.key needs webpush.subject beside it"]
        case (_?, nil): ["webpush.subject needs webpush.key beside it"]
        }
    }
}

extension ServerSettings {
    /// The credentials that are given, for hubs that have none of their own.
    var credentialSources: [any CredentialSource] {
        let all: [any CredentialSource] = [apns, fcm, wns, webPush]
        return isLab ? [] : all.filter(\.isGiven)
    }

    static let credentialSettings: [Setting] = [
        Setting(
            "fcm.service_account", .text,
            "Service account of FCM (the JSON file of its key), for hubs that have no FCM credential of their own."
        ) { $0.fcm.serviceAccount = $1.text },
        Setting(
            "wns.package_sid", .text, "Package SID of the Windows app (`ms-app://…`), for hubs that have no WNS credential of their own."
        ) { $0.wns.packageSID = $1.text },
        Setting("wns.client_secret", .text, "Its client secret. Best given as `PUSHHOST_WNS_CLIENT_SECRET`, or in a file.") {
            $0.wns.clientSecret = Secret($1.text)
        },
        Setting("wns.client_secret_file", .text, "File with the client secret, alone.") { $0.wns.clientSecretFile = $1.text },
        Setting(
            "webpush.subject", .text,
            "Contact for the push services of browsers: `mailto:` and an address, or an `https:` address, on a public host: Apple refuses "
                + "others."
        ) { $0.webPush.subject = $1.text },
        Setting(
            "webpush.key", .text,
            "VAPID key of Web Push, for hubs that have none of their own: a PEM file, or the private key itself, 32 bytes in base64url; "
                + "that is best given as `PUSHHOST_WEBPUSH_KEY`."
        ) { $0.webPush.key = Secret($1.text) },
    ]
}

extension PushError {
    fileprivate static func noCredential(_ service: String, _ settings: String) -> PushError {
        PushError("credential.invalid", "there is no \(service) credential in the settings", hint: "see \(settings) in the settings")
    }
}
