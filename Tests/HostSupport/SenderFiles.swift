import Crypto
import FoundationEssentials
package import PushModel
import SwiftASN1
import X509

/// An APNs certificate and key, as an operator downloads them from Apple's developer account, made for one test.
package struct SenderFiles {
    package let certificate: String
    package let key: String

    /// - Parameters:
    ///   - topic: the app's bundle id.
    ///   - end: when the certificate expires.
    package init(topic: String = "com.example.app", end: Timestamp) throws {
        let own = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = DistinguishedName([
            RelativeDistinguishedName([.init(type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: topic)])
        ])
        var mark = DER.Serializer()
        try mark.serialize(ASN1Null())
        certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: own.publicKey, notValidBefore: Date(timeIntervalSince1970: 0),
            notValidAfter: Date(timeIntervalSince1970: Double(end.seconds)), issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: .init([.init(oid: [1, 2, 840, 113_635, 100, 6, 3, 2], critical: false, value: mark.serializedBytes[...])]),
            issuerPrivateKey: own
        ).serializeAsPEM().pemString
        key = try own.serializeAsPEM().pemString
    }

    /// The PKCS #12 file in Base64, as in Azure's `ApnsCertificate`.
    package static func pkcs12(in folder: String) async throws -> String {
        let made = try await BuiltProgram.shell(
            "openssl pkcs12 -export -in \(folder)/certificate.pem -inkey \(folder)/key.pem -passout pass:secret | base64 -w0")
        return made.output
    }
}
