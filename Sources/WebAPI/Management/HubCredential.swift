import PushCore

/// What a hub sends to a push service with, as its managers see it: nothing of it is secret.
package struct HubCredential: Sendable, Equatable {
    package var platform: Platform
    /// The server's setting that it is from, such as `apns.key`; nil for the hub's own.
    package var setting: String?
    /// `token` or `certificate`; this and the rest of APNs alone.
    package var kind: String?
    package var topic: String?
    package var environment: String?
    /// Where pushes go: host and port.
    package var address: String?
    /// Of a certificate.
    package var expires: Timestamp?
    /// Why it cannot be used, or, with a kind, why what was put in its place is not.
    package var fault: String?

    package init(
        platform: Platform, setting: String? = nil, kind: String? = nil, topic: String? = nil, environment: String? = nil,
        address: String? = nil, expires: Timestamp? = nil, fault: String? = nil
    ) {
        (self.platform, self.setting, self.kind, self.topic) = (platform, setting, kind, topic)
        (self.environment, self.address, self.expires, self.fault) = (environment, address, expires, fault)
    }

    /// A hub's own, by their platforms.
    package static func own(of hub: HubRecord) -> [HubCredential] {
        hub.description.credentials.filter { !$0.value.properties.isEmpty }.keys
            .compactMap { Platform(rawValue: $0.rawValue.lowercased()) }.sorted().map { HubCredential(platform: $0) }
    }
}

extension HubCredential {
    static let schema = JSONSchema.object(
        "HubCredential",
        [
            "platform": .platform,
            "source": .choice("Whether it is the hub's own, or that of the server's settings", ["hub", "settings"]),
            "setting?": .text("The setting that it is from, such as apns.key"),
            "kind?": .choice("How APNs knows the sender", ["token", "certificate"]),
            "topic?": .text("The app's bundle id"), "environment?": .text("Where the app's devices are registered"),
            "address?": .text("Where pushes go: host and port"), "expiresAt?": .moment("When the certificate ends"),
            "fault?": .text("Why it cannot be used; beside the rest, why what was put in its place is not"),
        ])

    var json: JSON {
        .members([
            "platform": .string(platform.shortName), "source": setting == nil ? "hub" : "settings",
            "setting": setting.map { .string($0) }, "kind": kind.map { .string($0) }, "topic": topic.map { .string($0) },
            "environment": environment.map { .string($0) }, "address": address.map { .string($0) },
            "expiresAt": expires.map { .moment($0) }, "fault": fault.map { .string($0) },
        ])
    }
}
