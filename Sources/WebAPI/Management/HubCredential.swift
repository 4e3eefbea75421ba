package import PushModel

/// A hub's credential for a push service, without secrets, for managers of the hub.
package struct HubCredential: Sendable, Equatable {
    /// The method by which the push service authenticates the sender.
    package enum Kind: String, Sendable, CaseIterable {
        /// APNs: a key that signs tokens.
        case token
        /// APNs: a client certificate.
        case certificate
        /// FCM.
        case serviceAccount = "service-account"
        /// WNS.
        case clientSecret = "client-secret"
        /// Web Push.
        case vapid
    }

    package var platform: Platform
    /// The server setting that it comes from, such as `apns.key`; nil for the hub's own credential.
    package var setting: String?
    /// The kind. Nil, like the following properties, if the credential cannot be read.
    package var kind: Kind?
    /// APNs: the app's bundle id.
    package var topic: String?
    /// APNs: `production` or `development`..
    package var environment: String?
    /// FCM: the project's id.
    package var project: String?
    /// FCM: the address of the service account.
    package var account: String?
    /// WNS: `ms-app://…`
    package var packageSID: String?
    /// Web Push: the contact address for the push service.
    package var subject: String?
    /// Web Push: the public key with which web apps subscribe, base64url.
    package var publicKey: String?
    /// The host that pushes are sent to; nil if it depends on the device.
    package var address: String?
    /// The expiry of a certificate.
    package var expires: Timestamp?
    /// Why the credential cannot be used. If `kind` is set: why its replacement cannot be used.
    package var fault: String?

    package init(platform: Platform, setting: String? = nil, kind: Kind? = nil) {
        (self.platform, self.setting, self.kind) = (platform, setting, kind)
    }

    /// A hub's own credentials, sorted by platform.
    package static func own(of hub: HubRecord) -> [HubCredential] {
        hub.description.credentials.filter { !$0.value.isEmpty }.keys.compactMap(\.platform).sorted().map { HubCredential(platform: $0) }
    }
}

extension HubCredential {
    static let schema = JSONSchema.object(
        "HubCredential",
        [
            "platform": .platform,
            "source": .choice("Whether it is the hub's own or from the server's settings", ["hub", "settings"]),
            "setting?": .text("The setting that it comes from, such as apns.key"),
            "kind?": .choice("How the push service authenticates the sender; absent if it cannot be read", Kind.allCases.map(\.rawValue)),
            "topic?": .text("APNs: the app's bundle id"), "environment?": .text("APNs: the environment"),
            "project?": .text("FCM: the id of the Firebase project"), "account?": .text("FCM: the address of the service account"),
            "packageSid?": .text("WNS: the app's package SID"), "subject?": .text("Web Push: contact for the push service"),
            "publicKey?": .text("Web Push: the public key for subscriptions (applicationServerKey), base64url"),
            "address?": .text("The host that pushes are sent to; absent if it depends on the device"),
            "expiresAt?": .timestamp("When the certificate expires"),
            "fault?": .text("Why it cannot be used or, with other members, why its replacement cannot be used"),
        ])

    package var json: JSON {
        .members([
            "platform": .string(platform.shortName), "source": setting == nil ? "hub" : "settings",
            "setting": setting.map { .string($0) }, "kind": kind.map { .string($0.rawValue) }, "topic": topic.map { .string($0) },
            "environment": environment.map { .string($0) }, "project": project.map { .string($0) },
            "account": account.map { .string($0) }, "packageSid": packageSID.map { .string($0) },
            "subject": subject.map { .string($0) }, "publicKey": publicKey.map { .string($0) }, "address": address.map { .string($0) },
            "expiresAt": expires.map { .timestamp($0) }, "fault": fault.map { .string($0) },
        ])
    }

    /// Nil if the JSON is not a credential.
    package init?(_ json: JSON) {
        guard let platform = json["platform"]?.string.flatMap({ Platform(shortName: $0) }) else { return nil }
        self.init(
            platform: platform, setting: json["setting"]?.string, kind: json["kind"]?.string.flatMap { Kind(rawValue: $0) })
        (topic, environment) = (json["topic"]?.string, json["environment"]?.string)
        (project, account) = (json["project"]?.string, json["account"]?.string)
        packageSID = json["packageSid"]?.string
        (subject, publicKey) = (json["subject"]?.string, json["publicKey"]?.string)
        address = json["address"]?.string
        expires = json["expiresAt"]?.string.flatMap { Timestamp(iso8601: $0) }
        fault = json["fault"]?.string
    }
}
