import Crypto
import NIOCore
import NIOSSL
import PushCore

/// Whom the client takes for the push service.
package struct TLSTrust: Sendable {
    package enum Roots: Sendable {
        /// Those of the machine.
        case system
        case systemAnd([NIOSSLCertificate])
        case only([NIOSSLCertificate])
    }

    package var roots: Roots
    /// Hosts whose key is known, in lower case, with the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, section 2.4), 32 bytes: what they
    /// show must verify and have this key.
    package var pins: [String: [UInt8]]

    package init(roots: Roots = .system, pins: [String: [UInt8]] = [:]) {
        self.roots = roots
        self.pins = pins
    }

    /// Certificates from the text of a PEM file. Throws `settings.invalid` for one without any.
    package static func certificates(pem: [UInt8]) throws(PushError) -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(PEMText.strict(pem)), !certificates.isEmpty else {
            throw PushError(
                "settings.invalid", "the file of roots holds no certificate in PEM",
                hint: "give a file with -----BEGIN CERTIFICATE-----")
        }
        return certificates
    }

    /// - Parameter protocols: what is offered with ALPN.
    func configuration(certificate: ClientCertificate?, protocols: [String]) -> TLSConfiguration {
        var configuration = showing(certificate)
        configuration.applicationProtocols = protocols
        return configuration
    }

    /// For a client of HTTP that shows this; it knows nothing of pins.
    package func configuration(showing identity: ClientIdentity?) -> TLSConfiguration { showing(identity?.shown) }

    private func showing(_ certificate: ClientCertificate?) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        switch roots {
        case .system: break
        case .systemAnd(let own): configuration.additionalTrustRoots = [.certificates(own)]
        case .only(let own): configuration.trustRoots = .certificates(own)
        }
        if let certificate {
            configuration.certificateChain = certificate.chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(certificate.key)
        }
        return configuration
    }

    /// Why a host that showed this certificate is not the one that is meant; nil where it is, or nothing more is known of it.
    func objection(to certificate: NIOSSLCertificate?, of host: String) -> String? {
        guard let pin = pins[host.lowercased()] else { return nil }
        guard let key = try? certificate?.extractPublicKey().toSPKIBytes(), Array(SHA256.hash(data: key)) == pin else {
            return "its key is not the one that the settings pin for \(host)"
        }
        return nil
    }
}
