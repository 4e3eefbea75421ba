import Crypto
import CryptoExtras
import Delivery
import Foundation
import PushModel
import SwiftASN1
import Testing
import X509

@Suite struct APNsSigningKeyTests {
    private let clock = VirtualClock(now: Accounts.start)
    private let pem = Accounts.signingKey.pemRepresentation

    private func token(_ text: String) throws(PushError) -> APNsProviderToken {
        let settings = APNsSettings(teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(text), topic: "com.example.app")
        return try APNsProviderToken(settings: settings, clock: clock)
    }

    private func why(_ text: String) -> String {
        let error = #expect(throws: PushError.self) { try token(text) }
        #expect(error?.code == "credential.invalid" && error?.hint == "pass the .p8 file from Apple's developer account, unchanged")
        return error?.message.firstRange(of: "PKCS #8: ").map { String((error?.message ?? "")[$0.upperBound...]) } ?? ""
    }

    /// The key that signs the token of these settings.
    private func signs(_ key: APNsSigningKey) async throws -> Bool {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: APNsSettings(authentication: .token(key), topic: "com.example.app"), transport: transport, clock: clock)
        _ = await connector.deliver(.apns())
        let bearer = try #require(transport.pushes.first?.header("authorization"))
        return try #require(SignedToken(bearer.dropFirst("bearer ".count))).isSigned(by: Accounts.signingKey.publicKey)
    }

    @Test func `A key is read in every form that operators provide`() async throws {
        let body = pem.split(separator: "\n").dropFirst().dropLast()
        let forms = [
            pem, pem.replacing("\n", with: "\r\n"), "\u{feff}\(pem)\n\n", pem.replacing("\n", with: #"\n"#), body.joined(separator: "\n"),
            body.joined(), "  " + pem.replacing("\n", with: "\n  "), "Apple's key\n" + pem,
        ]
        for form in forms {
            #expect(try await signs(APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(form))), "\(form.count)")
        }
        for file in [Array(pem.utf8), Array(Accounts.signingKey.derRepresentation)] {
            #expect(try await signs(APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", file: file)))
        }
    }

    @Test func `An invalid signing key is reported with what it is`() async throws {
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let certificate = try SenderCertificate(isRSA: true)
        #expect(why("") == "it is empty")
        #expect(why(try certificate.pem) == "it is a certificate")
        #expect(why(Accounts.signingKey.publicKey.pemRepresentation) == "it is a public key")
        #expect(why(rsa.pkcs8PEMRepresentation) == "it is an RSA key, and belongs to a certificate")
        #expect(why(rsa.pemRepresentation) == "it is an RSA key, and belongs to a certificate")
        #expect(why(P384.Signing.PrivateKey().pemRepresentation) == "it is a key on another curve, or damaged")
        #expect(why(Curve25519.Signing.PrivateKey().pemRepresentation) == "it is not a P-256 key")
        #expect(why("-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----") == "its text is damaged")
        #expect(why("KEY1234567") == "it is not PEM")
        let openSSL = try OpenSSL()
        try openSSL.write(pem, to: "key.pem")
        try await openSSL.run(["pkcs8", "-topk8", "-in", "FOLDER/key.pem", "-out", "FOLDER/sealed.pem", "-passout", "pass:secret"])
        #expect(why(String(decoding: try openSSL.read("sealed.pem"), as: UTF8.self)) == "it has a password; Apple's keys have none")
        try openSSL.write(try certificate.pem, to: "certificate.pem")
        try openSSL.write(try certificate.keyPEM, to: "rsa.pem")
        try await openSSL.run([
            "pkcs12", "-export", "-in", "FOLDER/certificate.pem", "-inkey", "FOLDER/rsa.pem", "-out", "FOLDER/out.p12", "-passout", "pass:",
        ])
        func fileFault(_ file: [UInt8]) -> String {
            why(APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", file: file).privateKey.reveal())
        }
        #expect(fileFault(try openSSL.read("out.p12")) == "it is a .p12 file, which contains a certificate")
        #expect(fileFault(try certificate.certificate.serializeAsPEM().derBytes) == "it is a certificate")
    }

    @Test func `Errors do not show the key`() {
        let damaged = pem.replacing("\n-----END", with: "AAAA\n-----END")
        let error = #expect(throws: PushError.self) { try token(damaged) }
        let line = pem.split(separator: "\n")[1]
        #expect(error.map { "\($0)" }?.contains(line) == false)
    }
}
