import PushCore

/// What a hub sends to a push service with, as its managers see it: nothing of it is secret.
package struct HubCredential: Sendable, Equatable {
    /// How a push service knows the sender.
    package enum Kind: String, Sendable, CaseIterable {
        /// APNs: a key signs tokens.
        case token
        /// APNs: the connection shows it.
        case certificate
        /// FCM.
        case serviceAccount = "service-account"
        /// WNS.
        case clientSecret = "client-secret"
        /// Web Push.
        case vapid
    }

    package var platform: Platform
    /// The server's setting that it is from, such as `apns.key`; nil for the hub's own.
    package var setting: String?
    /// This and the rest are nil where it cannot be read.
    package var kind: Kind?
    /// APNs: the app's bundle id.
    package var topic: String?
    /// APNs.
    package var environment: String?
    /// FCM: the project's id.
    package var project: String?
    /// FCM: the address of the service account.
    package var account: String?
    /// WNS: `ms-app://…`
    package var packageSID: String?
    /// Web Push: whom a push service may write to.
    package var subject: String?
    /// Web Push: what web apps subscribe with, base64url.
    package var publicKey: String?
    /// The host that pushes go to. Nil where devices say it.
    package var address: String?
    /// Of a certificate.
    package var expires: Timestamp?
    /// Why it cannot be used, or, with a kind, why what was put in its place is not.
    package var fault: String?

    package init(platform: Platform, setting: String? = nil, kind: Kind? = nil) {
        (self.platform, self.setting, self.kind) = (platform, setting, kind)
    }

    /// A hub's own, by their platforms.
    package static func own(of hub: HubRecord) -> [HubCredential] {
        hub.description.credentials.filter { !$0.value.isEmpty }.keys.compactMap(\.platform).sorted().map { HubCredential(platform: $0) }
    }
}

extension HubCredential {
    static let schema = JSONSchema.object(
        "HubCredential",
        [
            "platform": .platform,
            "source": .choice("Whether it is the hub's own, or that of the server's settings", ["hub", "settings"]),
            "setting?": .text("The setting that it is from, such as apns.key"),
            "kind?": .choice("How the push service knows the sender; absent where it cannot be read", Kind.allCases.map(\.rawValue)),
            "topic?": .text("Of APNs: the app's bundle id"), "environment?": .text("Of APNs: where the app's devices are registered"),
            "project?": .text("Of FCM: the id of the Firebase project"), "account?": .text("Of FCM: the address of the service account"),
            "packageSid?": .text("Of WNS: the app's package SID"), "subject?": .text("Of Web Push: whom a push service may write to"),
            "publicKey?": .text("Of Web Push: what web apps subscribe with (applicationServerKey), base64url"),
            "address?": .text("The host that pushes go to; absent where the device says it"),
            "expiresAt?": .moment("When the certificate ends"),
            "fault?": .text("Why it cannot be used; beside the rest, why what was put in its place is not"),
        ])

    package var json: JSON {
        .members([
            "platform": .string(platform.shortName), "source": setting == nil ? "hub" : "settings",
            "setting": setting.map { .string($0) }, "kind": kind.map { .string($0.rawValue) }, "topic": topic.map { .string($0) },
            "environment": environment.map { .string($0) }, "project": project.map { .string($0) },
            "account": account.map { .string($0) }, "packageSid": packageSID.map { .string($0) },
            "subject": subject.map { .string($0) }, "publicKey": publicKey.map { .string($0) }, "address": address.map { .string($0) },
            "expiresAt": expires.map { .moment($0) }, "fault": fault.map { .string($0) },
        ])
    }

    /// Nil for what is none.
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
