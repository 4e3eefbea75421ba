import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// The self-signed TLS certificate of the simulators and its key, as PEM.
package struct ServerIdentity: Sendable {
    package let certificate: String
    package let key: String

    /// The host names of the services.
    package static let names = [
        "localhost", "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com", "fcm.googleapis.com",
        "oauth2.googleapis.com", "login.live.com", "*.notify.windows.com", "updates.push.services.mozilla.com",
    ]
    /// The maximum that Apple's clients accept.
    private static let lifetime: TimeInterval = 825 * 86_400
    /// Minimum remaining validity of a stored certificate.
    private static let remainder: TimeInterval = 30 * 86_400

    /// Creates a new identity; `nil` if certificate creation fails.
    ///
    /// - Parameters:
    ///   - clock: The validity starts one day before its current time.
    ///   - more: Host names besides those of the services.
    package init?(now clock: SimulatorClock, names more: [String] = []) {
        let start: Date = .init(timeIntervalSince1970: TimeInterval(clock.seconds - 86_400))
        let own = P256.Signing.PrivateKey()
        guard let certificate = try? Self.certificate(own, from: start, names: Self.names + more),
            let text = try? certificate.serializeAsPEM().pemString
        else { return nil }
        self.certificate = text + "\n"
        key = own.pemRepresentation + "\n"
    }

    /// Loads a stored identity; `nil` unless key and certificate match, all names are covered, and it is valid for another month.
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
        // A unique name, so that a client with several trusted certificates finds the right one.
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

    /// A TLS context. A client certificate is optional, and is checked by the service.
    ///
    /// - Parameter protocols: The ALPN protocols offered, most preferred first.
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
