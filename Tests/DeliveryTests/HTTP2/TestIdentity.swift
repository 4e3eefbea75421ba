import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

@testable import Delivery

/// A self-signed certificate, created for each test, and its key.
struct TestIdentity: Sendable {
    let certificate: NIOSSLCertificate
    let key: NIOSSLPrivateKey
    /// The SHA-256 hash of its SubjectPublicKeyInfo.
    let pin: [UInt8]
    let certificatePEM: String
    let keyPEM: String

    /// - Parameter addresses: the bytes of IP addresses that the certificate also covers.
    init(_ name: String = "localhost", addresses: [[UInt8]] = []) throws {
        let secret = P256.Signing.PrivateKey()
        let issuer = Certificate.PrivateKey(secret)
        let subject = try DistinguishedName { CommonName(name) }
        let names = [.dnsName(name)] + addresses.map { GeneralName.ipAddress(ASN1OctetString(contentBytes: $0[...])) }
        let made = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: issuer.publicKey,
            notValidBefore: Date(timeIntervalSinceNow: -3_600),
            notValidAfter: Date(timeIntervalSinceNow: 86_400), issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions { SubjectAlternativeNames(names) }, issuerPrivateKey: issuer)
        certificatePEM = try made.serializeAsPEM().pemString
        keyPEM = secret.pemRepresentation
        certificate = try NIOSSLCertificate(bytes: Array(certificatePEM.utf8), format: .pem)
        key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
        pin = Array(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes()))
    }

    var trust: TLSTrust { TLSTrust(roots: .only([certificate])) }
    var client: ClientCertificate { ClientCertificate(chain: [certificate], key: key) }
}
