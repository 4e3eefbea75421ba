import Crypto
import CryptoExtras
import Delivery
import Foundation
import PushModel
import SwiftASN1
import X509

/// A certificate like those of Apple's developer accounts, created for one test.
struct SenderCertificate {
    let certificate: X509.Certificate
    let key: X509.Certificate.PrivateKey

    var pem: String { get throws { try certificate.serializeAsPEM().pemString } }
    var keyPEM: String { get throws { try key.serializeAsPEM().pemString } }

    /// - Parameter topics: nil omits the extension.
    init(
        topics: [String]? = ["com.example.app", "com.example.app.voip", "com.example.app.complication"],
        userID: String? = "com.example.app", marks: [ASN1ObjectIdentifier] = [Self.production, Self.development],
        end: Timestamp = Accounts.start + .seconds(90 * 86_400), isRSA: Bool = false
    ) throws {
        key = isRSA ? .init(try _RSA.Signing.PrivateKey(keySize: .bits2048)) : .init(P256.Signing.PrivateKey())
        var name = [RelativeDistinguishedName.Attribute(type: .RDNAttributeType.commonName, utf8String: "Apple Push Services")]
        if let userID { name.insert(.init(type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: userID), at: 0) }
        let subject = DistinguishedName(name.map { RelativeDistinguishedName([$0]) })
        var extensions = try marks.map { oid in
            var mark = DER.Serializer()
            try mark.serialize(ASN1Null())
            return X509.Certificate.Extension(oid: oid, critical: false, value: mark.serializedBytes[...])
        }
        if let topics {
            var list = DER.Serializer()
            try list.appendConstructedNode(identifier: .sequence) { coder in
                for topic in topics {
                    try coder.serialize(ASN1UTF8String(topic))
                    try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(ASN1UTF8String("app")) }
                }
            }
            extensions.append(.init(oid: [1, 2, 840, 113_635, 100, 6, 3, 6], critical: false, value: list.serializedBytes[...]))
        }
        certificate = try X509.Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: TimeInterval((Accounts.start + .seconds(-86_400)).seconds)),
            notValidAfter: Date(timeIntervalSince1970: TimeInterval(end.seconds)), issuer: subject, subject: subject,
            signatureAlgorithm: isRSA ? .sha256WithRSAEncryption : .ecdsaWithSHA256, extensions: .init(extensions),
            issuerPrivateKey: key)
    }

    static let development: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 1]
    static let production: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 2]
    static let voip: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 4]

    func loaded() throws -> APNsCertificate {
        APNsCertificate(try ClientIdentity(certificates: Array(try pem.utf8), key: Array(try keyPEM.utf8)))
    }
}
