import Crypto
import CryptoExtras
import Delivery
import Foundation
import PushModel
import SwiftASN1
import Testing

/// The forms in which operators provide keys and certificates.
@Suite struct CredentialFormTests {
    /// PEM with lines of this width; nil for a single line.
    private static func wrapped(_ pem: String, _ width: Int?, end: String = "\n") -> String {
        let lines = pem.split(separator: "\n").map(String.init)
        let letters = Array(lines.dropFirst().dropLast().joined())
        let width = width ?? letters.count
        let body = stride(from: 0, to: letters.count, by: width).map { String(letters[$0..<min($0 + width, letters.count)]) }
        return ([lines[0]] + body + [lines[lines.count - 1]]).joined(separator: end)
    }

    private static func forms(_ pem: String) -> [String] {
        [
            wrapped(pem, 76), wrapped(pem, nil), wrapped(pem, nil, end: ""), wrapped(pem, 76, end: "\r\n"), wrapped(pem, 64, end: " "),
            "  \n\(wrapped(pem, 76))  \ntrailing words\n", "\"\(wrapped(pem, 64, end: #"\n"#))\"", Data(pem.utf8).base64EncodedString(),
        ]
    }

    @Test func `an APNs signing key is read in every form of PEM, and in base64 of it`() throws {
        for form in Self.forms(Accounts.signingKey.pemRepresentation) {
            try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(form)).check()
            try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", file: Array(form.utf8)).check()
        }
        let wide = [0xFEFF] + Array(Accounts.signingKey.pemRepresentation.utf16)
        let file = wide.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", file: file).check()
    }

    @Test func `the key of a service account is read in every form of PEM, and in base64`() throws {
        let pem = Accounts.fcm.privateKey.reveal()
        let pkcs1 = try _RSA.Signing.PrivateKey(pemRepresentation: pem).pemRepresentation
        let der = pem.split(separator: "\n").dropFirst().dropLast().joined()
        for form in Self.forms(pem) + Self.forms(pkcs1) + [der] {
            var settings = Accounts.fcm
            settings.privateKey = Secret(form)
            try settings.check()
        }
    }

    @Test func `a certificate and its key are read in every form of PEM`() throws {
        for isRSA in [true, false] {
            let sender = try SenderCertificate(isRSA: isRSA)
            let expected = try ClientIdentity(certificates: Array(try sender.pem.utf8), key: Array(try sender.keyPEM.utf8)).fingerprint
            let (certificates, keys) = (Self.forms(try sender.pem).dropLast(), Self.forms(try sender.keyPEM))
            for (certificate, key) in zip(certificates, keys) {
                let identity = try ClientIdentity(certificates: Array(certificate.utf8), key: Array(key.utf8))
                #expect(identity.fingerprint == expected)
                let both = Array("\(certificate)\n\(key)".utf8)
                #expect(try ClientIdentity(certificates: both, key: nil).fingerprint == expected)
            }
        }
    }

    @Test func `a certificate beside damaged PEM is refused`() throws {
        let sender = try SenderCertificate()
        let text = try sender.pem + "\n-----BEGIN CERTIFICATE-----\nAQID\n" + sender.keyPEM
        let error = #expect(throws: PushError.self) { _ = try ClientIdentity(certificates: Array(text.utf8), key: nil) }
        #expect(error?.message == "a part of the certificate's file is damaged PEM")
    }

    // MARK: - VAPID

    private static let vapid = P256.Signing.PrivateKey()
    private static let publicKey = Base64URL.encode(vapid.publicKey.x963Representation)

    @Test func `a VAPID key is read in either base64 alphabet, quoted, in DER and in PEM`() throws {
        let (raw, sec1) = (Self.vapid.rawRepresentation, Self.vapid.derRepresentation)
        let forms = [
            raw.base64EncodedString(), Base64URL.encode(raw), "\"\(Base64URL.encode(raw))\"", "'\(raw.base64EncodedString())'\n",
            sec1.base64EncodedString(), Base64URL.encode(sec1), "\"\(sec1.base64EncodedString())\"",
        ]
        for form in forms + Self.forms(Self.vapid.pemRepresentation) {
            let settings = try WebPushSettings(subject: "mailto:a@example.com", privateKey: Secret(form))
            #expect(settings.publicKey == Self.publicKey, "\(form)")
            try settings.check()
            #expect(VAPIDKeyText(form).isKey)
        }
    }

    @Test func `keys are read whatever letters they begin with`() throws {
        for _ in 0..<200 {
            let key = P256.Signing.PrivateKey()
            let expected = Base64URL.encode(key.publicKey.x963Representation)
            for form in [key.rawRepresentation.base64EncodedString(), Base64URL.encode(key.rawRepresentation)] {
                #expect(try WebPushSettings(subject: "mailto:a@example.com", privateKey: Secret(form)).publicKey == expected)
            }
        }
    }

    @Test func `the public VAPID key is read in the same forms, and shown as web apps need it`() throws {
        let key = Self.vapid.publicKey
        let raw = Secret(Base64URL.encode(Self.vapid.rawRepresentation))
        for form in [
            key.x963Representation.base64EncodedString(), "\"\(Self.publicKey)\"", "\(Self.publicKey)\n",
            key.derRepresentation.base64EncodedString(), key.pemRepresentation, Self.wrapped(key.pemRepresentation, nil),
            Base64URL.encode(key.compressedRepresentation),
        ] {
            let settings = WebPushSettings(subject: "mailto:a@example.com", publicKey: form, privateKey: raw)
            #expect(settings.publicKey == Self.publicKey, "\(form)")
            try settings.check()
        }
    }

    @Test func `an invalid private VAPID key is reported with what it is`() throws {
        let hexadecimal = Self.vapid.rawRepresentation.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let pair = #"{"publicKey":"\#(Self.publicKey)","privateKey":"x"}"#
        for (text, why) in [
            (hexadecimal, "it is hexadecimal"), (pair, "it is JSON; give the value of the member that contains the key"),
            (Self.vapid.publicKey.derRepresentation.base64EncodedString(), "it is a public key"),
            (Self.vapid.publicKey.pemRepresentation, "it is a public key"), ("no key!", "it is neither base64 nor PEM"),
            ("-----BEGIN PRIVATE KEY-----\nMIGH", "its PEM is damaged: the last line is missing, or its base64 is invalid"),
            (P384.Signing.PrivateKey().pemRepresentation, "it is another kind of key, or damaged"),
        ] {
            let error = #expect(throws: PushError.self) {
                _ = try WebPushSettings(subject: "mailto:a@example.com", privateKey: Secret(text))
            }
            #expect(error?.message == "the private VAPID key is not a P-256 key: \(why)")
        }
    }

    @Test(arguments: ["vapid.pem", "/run/secrets/vapid", "secrets/webpush.key", "key"])
    func `a path is not a VAPID key`(path: String) { #expect(!VAPIDKeyText(path).isKey) }

    @Test(arguments: [
        "mailto:x@localhost", "https://localhost", "https://localhost:8443/contact", "mailto:ops@intranet", "mailto:x@mail.local",
        "mailto:x@127.0.0.1", "https://10.0.0.1/", "mailto:x@[127.0.0.1]", "mailto:x@push.localhost", "mailto:x@LOCALHOST",
    ])
    func `a new contact at a local host is refused, an existing one still signs`(subject: String) throws {
        let settings = try WebPushSettings(subject: subject, privateKey: Secret(Base64URL.encode(Self.vapid.rawRepresentation)))
        let error = #expect(throws: PushError.self) { try settings.check() }
        #expect(error?.code == "credential.invalid" && error?.message.contains("has no public host") == true)
        #expect(error?.hint == WebPushSettings.contactHint)
        try settings.checkSigning()
        #expect(WebPushSettings.warning(ofSubject: subject) == error?.message)
    }

    @Test(arguments: ["mailto:ops@example.com", "https://example.com/contact", "mailto:ops@example.com?subject=push", "mailto:a@8.8.8.8"])
    func `a contact at a public host is valid`(subject: String) throws {
        let settings = try WebPushSettings(subject: subject, privateKey: Secret(Base64URL.encode(Self.vapid.rawRepresentation)))
        try settings.check()
        #expect(WebPushSettings.warning(ofSubject: subject) == nil)
    }
}
