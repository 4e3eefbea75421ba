import HTTPTypes
import HubWire
import PushCore

// Credentials: what a hub sends to the push services with.
extension ManagementRoute {
    static let credentials: [ManagementRoute] =
        [
            ManagementRoute(
                .get, "\(path)", "listHubCredentials",
                "What a hub sends with, its own or of the server's settings; nothing of it is secret",
                .hub, .manage, answer: .ok("The credentials", .object("HubCredentials", ["items": .list(of: HubCredential.schema)]))
            ) { call async throws(PushError) in
                call.list(call.credentials(of: try call.hub).map(\.json), continuation: nil)
            },
            ManagementRoute(
                .post, "\(path)/check", "checkHubCredentials",
                "Ask the push services whether they take what a hub sends with; no device gets anything", .hub, .manage,
                answer: .ok("What was answered", .object("CredentialChecks", ["items": .list(of: CredentialCheck.schema)]))
            ) { call async throws(PushError) in
                call.list(await call.access.credentials.check(try call.hub.record).map(\.json), continuation: nil)
            },
        ] + bodies.flatMap { [setting($0.platform, $0.noun, $0.body), removing($0.platform, $0.noun)] }

    private static let path = "/api/v1/hubs/{hub}/credentials"

    /// What each push service wants, by platform.
    private static let bodies: [(platform: Platform, noun: String, body: JSONSchema)] = [
        (
            .apns, "APNs",
            .object(
                "APNsCredential",
                [
                    "key?": .text("The signing key: the text of the .p8 file", length: 1...8192),
                    "keyId?": .text("Of the signing key", length: 10...10), "teamId?": .text("Of the signing key", length: 10...10),
                    "certificate?": .text("In place of a signing key: the .p12 file in base64", length: 1...131_072),
                    "password?": .text("Of the .p12 file", length: 0...1024),
                    "topic?": .text("The app's bundle id; by default that of the certificate", length: 1...255),
                    "environment?": .choice(
                        "Where the app's devices are registered; by default what the certificate says, or else production",
                        ["production", "development"]),
                ], alternatives: ["key", "certificate"])
        ),
        (
            .fcmV1, "FCM",
            .object(
                "FCMCredential",
                ["serviceAccount": .textOrObject("The file of the service account: its text, or the object that it holds")])
        ),
        (
            .wns, "WNS",
            .object(
                "WNSCredential",
                ["packageSid": .text("ms-app://s-1-15-2-…", length: 1...255), "clientSecret": .text("The app's secret", length: 1...1024)])
        ),
        (
            .browser, "WebPush",
            .object(
                "WebPushCredential",
                [
                    "subject": .text("Whom a push service may write to: a mailto: or https: URI", length: 1...1024),
                    "privateKey": .text("The VAPID key: 32 bytes in base64url, or PEM", length: 1...8192),
                ])
        ),
    ]

    private static func setting(_ platform: Platform, _ noun: String, _ body: JSONSchema) -> ManagementRoute {
        ManagementRoute(
            .put, "\(path)/\(platform.shortName)", "setHub\(noun)Credential",
            "Give a hub a credential of its own for \(platform.displayName); nothing is kept of one that cannot be used", .hub, .manage,
            body: body, answer: .ok("The credential, without anything secret", HubCredential.schema), refusals: [409],
            noted: noted(.credentialSet, platform)
        ) { call async throws(PushError) in
            let credential = try call.access.credentials.read(platform, call.body)
            let record = try await change(call, platform) { _ in credential }
            let kept = call.access.credentials.credentials(record).first { $0.platform == platform }
            return call.answer((kept ?? HubCredential(platform: platform)).json)
        }
    }

    private static func removing(_ platform: Platform, _ noun: String) -> ManagementRoute {
        ManagementRoute(
            .delete, "\(path)/\(platform.shortName)", "deleteHub\(noun)Credential",
            "Take a hub's own credential for \(platform.displayName) away; that of the server's settings takes its place, where there is one",
            .hub, .manage, answer: .deleted, noted: noted(.credentialDelete, platform)
        ) { call async throws(PushError) in
            _ = try await change(call, platform) { credential throws(PushError) in
                guard credential?.isEmpty == false else {
                    throw PushError(
                        "credential.not_found", "the hub has no credential of its own for \(platform.displayName)",
                        hint: "list its credentials: those of the server's settings are changed there", status: 404)
                }
                return nil
            }
            return WebAnswer(.noContent)
        }
    }

    private static func noted(_ action: AuditAction, _ platform: Platform) -> Noted {
        Noted(action) { call, _ throws(PushError) in ("\(platform.shortName) of the hub \(try call.hub.record.name)", [:]) }
    }

    private static func change(
        _ call: ManagementCall, _ platform: Platform,
        _ change: @Sendable (PlatformCredential?) throws(PushError) -> PlatformCredential?
    ) async throws(PushError) -> HubRecord {
        let name = try call.hub.record.name
        return try await call.namespace.change(name, while: call.permission) { description throws(PushError) in
            var changed = description
            for kind in PlatformCredential.Kind.allCases where kind.platform == platform {
                changed.credentials[kind] = try change(description.credentials[kind])
            }
            return changed
        }
    }
}
