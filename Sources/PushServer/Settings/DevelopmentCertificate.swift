import Crypto
import FoundationEssentials
import PushModel
import SwiftASN1
import X509

/// A development certificate signed by a CA of its own. The CA's key is discarded, so that it cannot sign anything else.
struct DevelopmentCertificate {
    /// The CA certificate that clients must trust, in PEM.
    let authority: String
    /// The server's and the CA's certificate, in PEM.
    let chain: String
    let key: Secret

    /// The maximum that Apple's clients accept.
    private static let lifetime: TimeInterval = 825 * 86_400

    /// - Parameter names: host names or IP addresses, in addition to localhost, 127.0.0.1 and ::1.
    init(names: [String], now: Timestamp) throws(PushError) {
        let start = Date(timeIntervalSince1970: TimeInterval(now.seconds - 86_400))
        let end = start.addingTimeInterval(Self.lifetime)
        do {
            let authorityKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
            let serverKey = P256.Signing.PrivateKey()
            let authorityName = try DistinguishedName {
                CommonName("PushHost development authority")
                OrganizationName("PushHost, made on this machine")
            }
            let authority = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: authorityKey.publicKey, notValidBefore: start,
                notValidAfter: end, issuer: authorityName, subject: authorityName, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                }, issuerPrivateKey: authorityKey)
            let server = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(serverKey.publicKey),
                notValidBefore: start, notValidAfter: end, issuer: authorityName,
                subject: try DistinguishedName { CommonName("localhost") }, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames((["localhost", "127.0.0.1", "::1"] + names).map(Self.name))
                }, issuerPrivateKey: authorityKey)
            self.authority = try authority.serializeAsPEM().pemString + "\n"
            chain = try server.serializeAsPEM().pemString + "\n" + self.authority
            key = Secret(serverKey.pemRepresentation + "\n")
        } catch {
            throw PushError("tls.unusable", "cannot create a certificate: \(error)", hint: "check the names in tls.names")
        }
    }

    /// Expiry of the first certificate in a PEM chain; nil if there is none.
    static func end(ofChain chain: [UInt8]) -> Timestamp? {
        guard let first = PEMText(chain).blocks.first, let certificate = try? Certificate(derEncoded: first.bytes) else { return nil }
        return Timestamp(seconds: Int64(certificate.notValidAfter.timeIntervalSince1970))
    }

    private static func name(_ text: String) -> GeneralName {
        if let address = IPAddress(text) { return .ipAddress(ASN1OctetString(contentBytes: address.bytes[...])) }
        return .dnsName(text)
    }
}
