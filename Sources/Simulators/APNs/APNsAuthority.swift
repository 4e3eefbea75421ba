import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// Gives out push certificates, as Apple's developer portal does.
struct APNsAuthority: Sendable {
    private let key: P256.Signing.PrivateKey

    /// What a certificate is asked for; one of no environment, or of an hour ago, is there for those who want to see it refused.
    struct Order: Sendable {
        /// Whole topics; the first is the bundle id. More than one are listed in the extension for them.
        var topics: [String]
        var environments: Set<APNsEnvironment> = [.production, .development]
        /// Seconds since 1970.
        var from: Int64
        var until: Int64
    }

    /// - Parameter seed: A secret that the same authority has at every start.
    init(seed: P256.Signing.PrivateKey) {
        key = Self.derived(from: seed.rawRepresentation, count: 0)
    }

    var publicKey: P256.Signing.PublicKey { key.publicKey }

    /// Nearly every text of 32 bytes is a key (FIPS 186-5, A.2.2); the next is taken where one is none.
    private static func derived(from seed: Data, count: UInt8) -> P256.Signing.PrivateKey {
        let text = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: seed), info: Data("push certificates".utf8) + [count], outputByteCount: 32)
        let bytes = text.withUnsafeBytes { Data($0) }
        return (try? P256.Signing.PrivateKey(rawRepresentation: bytes)) ?? derived(from: seed, count: count &+ 1)
    }

    /// A new certificate with its key, both PEM; nil where a topic cannot stand in one.
    func issue(_ order: Order) -> (certificate: String, key: String)? {
        let own = P256.Signing.PrivateKey()
        guard let certificate = try? certificate(order, for: own.publicKey), let text = try? certificate.serializeAsPEM().pemString
        else { return nil }
        return (text + "\n", own.pemRepresentation + "\n")
    }

    private func certificate(_ order: Order, for publicKey: P256.Signing.PublicKey) throws -> Certificate {
        let bundleID = order.topics.first ?? ""
        let issuer = try DistinguishedName { CommonName("PushHost simulated push certificates") }
        let subject = DistinguishedName([
            RelativeDistinguishedName(.init(type: APNsPushCertificate.userID, utf8String: bundleID)),
            RelativeDistinguishedName(.init(type: .RDNAttributeType.commonName, utf8String: "Apple Push Services: \(bundleID)")),
        ])
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.clientAuth])
        }
        if order.topics.count > 1 {
            try extensions.append(Self.extension(APNsPushCertificate.topicsID) { try $0.serialize(APNsTopicList(topics: order.topics)) })
        }
        for (environment, id) in [
            (APNsEnvironment.development, APNsPushCertificate.developmentID), (.production, APNsPushCertificate.productionID),
        ] where order.environments.contains(environment) {
            try extensions.append(Self.extension(id) { try $0.serialize(ASN1Null()) })
        }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(publicKey),
            notValidBefore: .init(timeIntervalSince1970: TimeInterval(order.from)),
            notValidAfter: .init(timeIntervalSince1970: TimeInterval(order.until)), issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: .init(key))
    }

    private static func `extension`(
        _ id: ASN1ObjectIdentifier, _ write: (inout DER.Serializer) throws -> Void
    ) throws -> Certificate.Extension {
        var serializer = DER.Serializer()
        try write(&serializer)
        return Certificate.Extension(oid: id, critical: false, value: serializer.serializedBytes[...])
    }
}
