import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// The certificate that the simulators show to clients of TLS, which is its own authority, and its key. PEM.
package struct ServerIdentity: Sendable {
    package let certificate: String
    package let key: String

    /// The names that clients know the services by.
    package static let names = [
        "localhost", "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com", "fcm.googleapis.com",
        "oauth2.googleapis.com", "login.live.com", "*.notify.windows.com", "updates.push.services.mozilla.com",
    ]
    /// Apple's clients take no more.
    private static let lifetime: TimeInterval = 825 * 86_400
    /// With less left, a certificate is as good as none.
    private static let remainder: TimeInterval = 30 * 86_400

    /// A new one; nil where the machine cannot make it.
    ///
    /// - Parameters:
    ///   - clock: Its time is the certificate's, which counts from the day before.
    ///   - more: Names beside those of the services.
    package init?(now clock: SimulatorClock, names more: [String] = []) {
        let start: Date = .init(timeIntervalSince1970: TimeInterval(clock.seconds - 86_400))
        let own = P256.Signing.PrivateKey()
        guard let certificate = try? Self.certificate(own, from: start, names: Self.names + more),
            let text = try? certificate.serializeAsPEM().pemString
        else { return nil }
        self.certificate = text + "\n"
        key = own.pemRepresentation + "\n"
    }

    /// One that was made before; nil unless key and certificate belong together, with all names, for a month to come.
    package init?(certificate: String, key: String, now clock: SimulatorClock, names more: [String] = []) {
        self.certificate = certificate
        self.key = key
        let soon: Date = .init(timeIntervalSince1970: TimeInterval(clock.seconds) + Self.remainder)
        guard let read = try? Certificate(pemEncoded: certificate), let own = try? P256.Signing.PrivateKey(pemRepresentation: key),
            read.publicKey == Certificate.PublicKey(own.publicKey), read.notValidAfter > soon,
            let names = try? read.extensions.subjectAlternativeNames, (Self.names + more).allSatisfy({ names.contains(.dnsName($0)) })
        else { return nil }
    }

    private static func certificate(_ own: P256.Signing.PrivateKey, from start: Date, names: [String]) throws -> Certificate {
        // A client that trusts several finds the one that it looks for by the name.
        let mark = SHA256.hash(data: own.publicKey.rawRepresentation).prefix(4).map { String(UInt16($0) + 256, radix: 16).suffix(2) }
        let name = try DistinguishedName { CommonName("PushHost simulated push services \(mark.joined())") }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(own.publicKey), notValidBefore: start,
            notValidAfter: start.addingTimeInterval(lifetime), issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(digitalSignature: true, keyCertSign: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(
                    names.map { .dnsName($0) } + [.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
            }, issuerPrivateKey: .init(own))
    }

    /// A client may show a certificate, which the service judges.
    ///
    /// - Parameter protocols: What is offered, the best first.
    func context(for protocols: [WireProtocol]) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { NIOSSLCertificateSource.certificate($0) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.applicationProtocols = protocols.map(\.rawValue)
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .optionalVerification
        return try NIOSSLContext(configuration: configuration)
    }
}
