import PushCore

/// What the interface knows of credentials: only a program that sends can tell which are good.
package struct CredentialServices: Sendable {
    /// What a hub sends with, by platforms.
    var credentials: @Sendable (HubRecord) -> [HubCredential]
    /// Makes a hub's credential of what a request says. Throws `credential.invalid` (400).
    var read: @Sendable (Platform, JSONObject) throws(PushError) -> PlatformCredential
    /// Asks the push services whether they take what a hub sends with.
    var check: @Sendable (HubRecord) async -> [CredentialCheck]

    package init(
        credentials: @escaping @Sendable (HubRecord) -> [HubCredential],
        read: @escaping @Sendable (Platform, JSONObject) throws(PushError) -> PlatformCredential,
        check: @escaping @Sendable (HubRecord) async -> [CredentialCheck]
    ) {
        (self.credentials, self.read, self.check) = (credentials, read, check)
    }

    /// Of a server that sends nothing: hubs have what they were given, and nothing new is taken.
    package static let none = CredentialServices(
        credentials: { HubCredential.own(of: $0) },
        read: { _, _ throws(PushError) in
            throw PushError("credential.invalid", "this server sends to no push service", status: 400)
        }, check: { _ in [] })
}

/// What a push service said of a credential.
package struct CredentialCheck: Sendable, Equatable {
    package var credential: HubCredential
    /// Whether the push service takes it, or, where nobody can be asked, whether it fits together.
    package var isGood: Bool
    /// Who was asked: host and port; nil for nobody.
    package var asked: String?
    /// What was answered, or found.
    package var finding: String
    /// What to do; nil where nothing is.
    package var hint: String?

    package init(_ credential: HubCredential, isGood: Bool, asked: String? = nil, finding: String, hint: String? = nil) {
        (self.credential, self.isGood, self.asked, self.finding, self.hint) = (credential, isGood, asked, finding, hint)
    }
}

extension CredentialCheck {
    static let schema = JSONSchema.object(
        "CredentialCheck",
        [
            "credential": HubCredential.schema, "ok": .boolean("Whether the push service takes it, or else whether it fits together"),
            "asked?": .text("Who was asked: host and port; absent for nobody"), "finding": .text("What was answered, or found"),
            "hint?": .text("What to do"),
        ])

    package var json: JSON {
        .members([
            "credential": credential.json, "ok": .bool(isGood), "asked": asked.map { .string($0) }, "finding": .string(finding),
            "hint": hint.map { .string($0) },
        ])
    }
}
