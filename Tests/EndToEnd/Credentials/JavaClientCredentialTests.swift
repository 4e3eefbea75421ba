import Crypto
import CryptoExtras
import Delivery
import Foundation
import HostSupport
import PushModel
import PushRuntime
import Testing

/// A hub description with credentials as Azure's Java client writes it: every property is present, and the text `null` stands for an
/// unset one.
private struct JavaDescription {
    private var credentials = ""

    func with(_ name: String, _ properties: KeyValuePairs<String, String?>) -> JavaDescription {
        var changed = self
        let all = properties.map { "<Property><Name>\($0.key)</Name><Value>\($0.value ?? "null")</Value></Property>" }.joined()
        changed.credentials += "<\(name)><Properties>\(all)</Properties></\(name)>"
        return changed
    }

    func apns(
        endpoint: String? = "gateway.push.apple.com", certificate: String? = nil, password: String? = nil, token: String? = nil,
        keyID: String? = nil, appName: String? = nil, appID: String? = nil
    ) -> JavaDescription {
        with(
            "ApnsCredential",
            [
                "Endpoint": endpoint, "ApnsCertificate": certificate, "CertificateKey": password, "Thumbprint": nil, "Token": token,
                "KeyId": keyID, "AppName": appName, "AppId": appID,
            ])
    }

    var body: String {
        #"<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">"#
            + #"<NotificationHubDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"# + credentials
            + "</NotificationHubDescription></content></entry>"
    }
}

@Suite struct JavaClientCredentialTests {
    private static let sid = "ms-app://s-1-15-2-1-2-3-4-5-6-7"
    private static let endpoint = "https://api.push.apple.com:443/3/device"

    /// The form that Azure's portal accepts: the `.p8` file without its first and last line.
    private static var token: String {
        P256.Signing.PrivateKey().pemRepresentation.split(separator: "\n").dropFirst().dropLast().joined()
    }

    /// Creates a hub, or updates one with `If-Match`.
    private static func put(
        _ description: JavaDescription, _ name: String, _ hub: ServedHub, isNew: Bool = false
    ) async throws -> WireAnswer {
        let type = "application/atom+xml;type=entry;charset=utf-8"
        return try await hub.call(
            "PUT", "/\(name)?api-version=2020-06", isNew ? ["Content-Type": type] : ["Content-Type": type, "If-Match": "*"],
            body: description.body, by: .root)
    }

    private static func shown(_ name: String, _ hub: ServedHub) async throws -> String {
        try await hub.command(["hub", "credentials", "show", name]).output
    }

    private static func certificate(_ hub: ServedHub, password: String) async throws -> String {
        let folder = hub.data.deletingLastPathComponent()
        let files = try SenderFiles(end: SystemClock().now + .seconds(90 * 86_400))
        try Data(files.certificate.utf8).write(to: folder.appending(path: "certificate.pem"))
        try Data(files.key.utf8).write(to: folder.appending(path: "key.pem"))
        let made = try await BuiltProgram.shell(
            "openssl pkcs12 -export -in certificate.pem -inkey key.pem -out push.p12 -passout pass:\(password) && base64 -w0 push.p12",
            in: folder)
        return made.output
    }

    @Test func `An APNs signing key or certificate is accepted with null for the other's properties`() async throws {
        try await ServedHub.serving { hub in
            let token = JavaDescription().apns(token: Self.token, keyID: "KEY1234567", appName: "com.example.app", appID: "TEAM123456")
            let first = try await Self.put(token, "java", hub, isNew: true)
            #expect([200, 201].contains(first.status), "\(first.body)")
            #expect(!first.body.contains(">null<"), "\(first.body)")
            #expect(try await Self.shown("java", hub).contains("token for com.example.app, production,"))

            for password in ["secret", ""] {
                let file = try await Self.certificate(hub, password: password)
                let certificate = JavaDescription().apns(
                    endpoint: Self.endpoint, certificate: file, password: password.isEmpty ? nil : password)
                let second = try await Self.put(certificate, "java", hub)
                #expect(second.status == 200, "\(second.body)")
                #expect(try await Self.shown("java", hub).contains("certificate for com.example.app, production,"))
            }

            let sandbox = JavaDescription().apns(
                endpoint: "gateway.sandbox.push.apple.com", token: Self.token, keyID: "KEY1234567", appName: "com.example.app",
                appID: "TEAM123456")
            #expect(try await Self.put(sandbox, "java", hub).status == 200)
            #expect(try await Self.shown("java", hub).contains("token for com.example.app, development,"))

            let half = JavaDescription().apns(token: Self.token, appName: "com.example.app", appID: "TEAM123456")
            let refused = try await Self.put(half, "java", hub)
            #expect(refused.status == 400 && refused.body.contains("has no KeyId"), "\(refused.body)")
        }
    }

    @Test func `Credentials of all other platforms are accepted in one description, and those without a value are absent`() async throws {
        try await ServedHub.serving { hub in
            let vapid = P256.Signing.PrivateKey()
            let publicKey = Base64URL.encode(vapid.publicKey.x963Representation)
            let all = JavaDescription()
                .with("WnsCredential", ["PackageSid": Self.sid, "SecretKey": "s3cret"])
                .with("GcmCredential", ["GcmEndpoint": "https://fcm.googleapis.com/fcm/send", "GoogleApiKey": "key"])
                .with(
                    "FcmV1Credential",
                    [
                        "PrivateKey": try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation, "ProjectId": "demo-project",
                        "ClientEmail": "hub@demo-project.iam.gserviceaccount.com",
                    ]
                )
                .with("MpnsCredential", ["MpnsCertificate": nil, "CertificateKey": nil])
                .with("AdmCredential", ["ClientId": "amzn1.application", "ClientSecret": "secret"])
                .with("BaiduCredential", ["BaiduApiKey": "key", "BaiduSecretKey": "secret"])
                .with(
                    "BrowserCredential",
                    [
                        "Subject": "mailto:ops@example.com", "VapidPublicKey": publicKey,
                        "VapidPrivateKey": Base64URL.encode(vapid.rawRepresentation),
                    ])
            let answer = try await Self.put(all, "java", hub, isNew: true)
            #expect([200, 201].contains(answer.status), "\(answer.body)")
            #expect(!answer.body.contains("<Value>null</Value>"), "\(answer.body)")
            let shown = try await Self.shown("java", hub)
            for words in [
                "client secret for \(Self.sid)", "service account hub@demo-project.iam.gserviceaccount.com",
                "VAPID key of mailto:ops@example.com",
            ] {
                #expect(shown.contains(words), "\(shown)")
            }

            let none = JavaDescription().apns(endpoint: nil)
                .with("WnsCredential", ["PackageSid": nil, "SecretKey": nil])
                .with("GcmCredential", ["GcmEndpoint": "https://fcm.googleapis.com/fcm/send", "GoogleApiKey": nil])
                .with("FcmV1Credential", ["PrivateKey": nil, "ProjectId": nil, "ClientEmail": nil])
                .with("MpnsCredential", ["MpnsCertificate": nil, "CertificateKey": nil])
                .with("AdmCredential", ["ClientId": nil, "ClientSecret": nil])
                .with("BaiduCredential", ["BaiduApiKey": nil, "BaiduSecretKey": nil])
                .with("BrowserCredential", ["Subject": nil, "VapidPublicKey": nil, "VapidPrivateKey": nil])
            let empty = try await Self.put(none, "java", hub)
            #expect(empty.status == 200, "\(empty.body)")
            #expect(!empty.body.contains("<Value>null</Value>"), "\(empty.body)")
            let left = try await Self.shown("java", hub)
            for name in ["APNs", "WNS", "Web Push", "service account"] { #expect(!left.contains(name), "\(left)") }
        }
    }
}
