import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// Issues push certificates, like Apple's developer portal.
struct APNsCertificateAuthority: Sendable {
    private let key: P256.Signing.PrivateKey

    /// The contents of a certificate. Tests of rejections can order one for no environment, or one that has expired.
    struct Order: Sendable {
        /// Whole topics; the first is the bundle id. Several topics are listed in the extension for topics.
        var topics: [String]
        var environments: Set<APNsEnvironment> = [.production, .development]
        /// Start of validity, in seconds since 1970.
        var from: Int64
        var until: Int64
    }

    /// - Parameter seed: A secret. The same seed gives the same authority after a restart.
    init(seed: P256.Signing.PrivateKey) {
        key = Self.derived(from: seed.rawRepresentation, count: 0)
    }

    var publicKey: P256.Signing.PublicKey { key.publicKey }

    /// Derives a key. Nearly all 32-byte values are valid keys (FIPS 186-5, A.2.2); an invalid one is skipped.
    private static func derived(from seed: Data, count: UInt8) -> P256.Signing.PrivateKey {
        let text = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: seed), info: Data("push certificates".utf8) + [count], outputByteCount: 32)
        let bytes = text.withUnsafeBytes { Data($0) }
        return (try? P256.Signing.PrivateKey(rawRepresentation: bytes)) ?? derived(from: seed, count: count &+ 1)
    }

    /// Issues a certificate with a new key, both as PEM; returns `nil` if a topic is not valid in a certificate.
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
