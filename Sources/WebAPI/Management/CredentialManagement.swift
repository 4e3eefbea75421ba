import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for credentials, with which a hub sends to push services.
enum CredentialManagement {
    static let routes: [ManagementRoute] =
        [
            ManagementRoute(
                .get("\(path)", "listHubCredentials", "A hub's credentials, its own or from the server's settings, without secrets"),
                .hub(.manage), answer: .ok("The credentials", .object("HubCredentials", ["items": .list(of: HubCredential.schema)]))
            ) { call async throws(PushError) in
                call.list(call.credentials(of: try call.hub).map(\.json), continuation: nil)
            },
            ManagementRoute(
                .post(
                    "\(path)/check", "checkHubCredentials",
                    "Check with the push services whether they accept the hub's credentials; nothing is sent to devices"),
                .hub(.manage), answer: .ok("The results", .object("CredentialChecks", ["items": .list(of: CredentialCheck.schema)]))
            ) { call async throws(PushError) in
                call.list(await call.credentials.check(try call.hub.record).map(\.json), continuation: nil)
            },
        ] + bodies.flatMap { [setting($0.platform, $0.noun, $0.body), removing($0.platform, $0.noun)] }

    private static let path = "/api/v1/hubs/{hub}/credentials"

    /// The credential schema of each push service, by platform.
    private static let bodies: [(platform: Platform, noun: String, body: JSONSchema)] = [
        (
            .apns, "APNs",
            .object(
                "APNsCredential",
                [
                    "key?": .text("The signing key: the text of the .p8 file", length: 1...8192),
                    "keyId?": .text("The signing key's id", length: 10...10), "teamId?": .text("The team's id", length: 10...10),
                    "certificate?": .text("Instead of a signing key: the .p12 file in base64", length: 1...131_072),
                    "password?": .text("The password of the .p12 file", length: 0...1024),
                    "topic?": .text("The app's bundle id; by default from the certificate", length: 1...255),
                    "environment?": .choice(
                        "The APNs environment; by default from the certificate, otherwise production",
                        ["production", "development"]),
                ], alternatives: ["key", "certificate"])
        ),
        (
            .fcmV1, "FCM",
            .object(
                "FCMCredential",
                ["serviceAccount": .textOrObject("The service account file: its text, or its JSON object")])
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
                    "subject": .text("Contact for the push service: a mailto: or https: URI", length: 1...1024),
                    "privateKey": .text("The VAPID key: 32 bytes in base64url, or PEM", length: 1...8192),
                ])
        ),
    ]

    private static func setting(_ platform: Platform, _ noun: String, _ body: JSONSchema) -> ManagementRoute {
        ManagementRoute(
            .put(
                "\(path)/\(platform.shortName)", "setHub\(noun)Credential",
                "Set a hub's own \(platform.displayName) credential; an unusable one is not stored"),
            .hub(.manage), body: body, answer: .ok("The credential, without secrets", HubCredential.schema), refusals: [409],
            audit: audit(.credentialSet, platform)
        ) { call async throws(PushError) in
            let credential = try call.credentials.read(platform, call.body)
            let record = try await change(call, platform) { _ in credential }
            let stored = call.credentials.credentials(record).first { $0.platform == platform }
            return call.answer((stored ?? HubCredential(platform: platform)).json)
        }
    }

    private static func removing(_ platform: Platform, _ noun: String) -> ManagementRoute {
        ManagementRoute(
            .delete(
                "\(path)/\(platform.shortName)", "deleteHub\(noun)Credential",
                "Delete a hub's own \(platform.displayName) credential; the one from the server's settings applies again, if any"),
            .hub(.manage), answer: .deleted, audit: audit(.credentialDelete, platform)
        ) { call async throws(PushError) in
            _ = try await change(call, platform) { credential throws(PushError) in
                guard credential?.isEmpty == false else {
                    throw PushError(
                        "credential.not_found", "the hub has no credential of its own for \(platform.displayName)",
                        hint: "list its credentials: those from the server's settings are changed in the settings", status: 404)
                }
                return nil
            }
            return WebAnswer(.noContent)
        }
    }

    private static func audit(_ action: AuditAction, _ platform: Platform) -> AuditRule {
        AuditRule(action) { call, _ throws(PushError) in ("\(platform.shortName) of the hub \(try call.hub.record.name)", [:]) }
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
