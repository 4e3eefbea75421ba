package import PushModel

/// The operations on credentials that the interface needs. Only a program that sends can validate credentials.
package struct CredentialServices: Sendable {
    /// The credentials that a hub uses, by platform.
    var credentials: @Sendable (HubRecord) -> [HubCredential]
    /// Makes a hub's credential from a request. Throws `credential.invalid` (400).
    var read: @Sendable (Platform, JSONObject) throws(PushError) -> PlatformCredential
    /// Checks with the push services whether they accept the hub's credentials.
    var check: @Sendable (HubRecord) async -> [CredentialCheck]

    package init(
        credentials: @escaping @Sendable (HubRecord) -> [HubCredential],
        read: @escaping @Sendable (Platform, JSONObject) throws(PushError) -> PlatformCredential,
        check: @escaping @Sendable (HubRecord) async -> [CredentialCheck]
    ) {
        (self.credentials, self.read, self.check) = (credentials, read, check)
    }

    /// For a server that does not send: shows stored credentials and accepts no new ones.
    package static let none = CredentialServices(
        credentials: { HubCredential.own(of: $0) },
        read: { _, _ throws(PushError) in
            throw PushError("credential.invalid", "this server does not send to push services", status: 400)
        }, check: { _ in [] })
}

/// The result of checking a credential.
package struct CredentialCheck: Sendable, Equatable {
    package var credential: HubCredential
    /// Whether the push service accepts it or, if it cannot be asked, whether its parts are consistent.
    package var isGood: Bool
    /// The host and port that were asked; nil if none.
    package var endpoint: String?
    /// The response or the finding.
    package var finding: String
    /// What to do; nil if nothing is required.
    package var hint: String?

    package init(_ credential: HubCredential, isGood: Bool, endpoint: String? = nil, finding: String, hint: String? = nil) {
        (self.credential, self.isGood, self.endpoint, self.finding, self.hint) = (credential, isGood, endpoint, finding, hint)
    }
}

extension CredentialCheck {
    static let schema = JSONSchema.object(
        "CredentialCheck",
        [
            "credential": HubCredential.schema,
            "ok": .boolean("Whether the push service accepts the credential; if it was not asked, whether the credential is consistent"),
            "asked?": .text("The host and port that were asked; absent if none"), "finding": .text("The response or the finding"),
            "hint?": .text("What to do"),
        ])

    package var json: JSON {
        .members([
            "credential": credential.json, "ok": .bool(isGood), "asked": endpoint.map { .string($0) }, "finding": .string(finding),
            "hint": hint.map { .string($0) },
        ])
    }
}
