import Crypto
import FoundationEssentials
import PushCore
import SwiftASN1
import X509

/// A certificate for development, with an authority of its own that clients can be told to trust. The authority's key is thrown
/// away, so that it can never vouch for anything else.
struct DevelopmentCertificate {
    /// The authority's certificate: what clients are given. PEM.
    let authority: String
    /// The server's certificate and the authority's, PEM.
    let chain: String
    let key: Secret

    /// Apple's clients take no more.
    private static let lifetime: TimeInterval = 825 * 86_400

    /// - Parameter names: beside localhost, 127.0.0.1 and ::1; host names or IP addresses.
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
            throw PushError("tls.unusable", "a certificate could not be made: \(error)", hint: "check the names in tls.names")
        }
    }

    /// When the first certificate of a chain in PEM ends; nil where there is none.
    static func end(ofChain chain: [UInt8]) -> Timestamp? {
        guard let first = PEMText(chain).blocks.first, let certificate = try? Certificate(derEncoded: first.bytes) else { return nil }
        return Timestamp(seconds: Int64(certificate.notValidAfter.timeIntervalSince1970))
    }

    private static func name(_ text: String) -> GeneralName {
        if let address = IPAddress(text) { return .ipAddress(ASN1OctetString(contentBytes: address.bytes[...])) }
        return .dnsName(text)
    }
}
