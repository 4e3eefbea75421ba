import Crypto
import NIOCore
package import NIOSSL
package import PushModel

/// The servers that the client trusts.
package struct TLSTrust: Sendable {
    package enum Roots: Sendable {
        /// The trust roots of the system.
        case system
        case systemAnd([NIOSSLCertificate])
        case only([NIOSSLCertificate])
    }

    package var roots: Roots
    /// Pinned keys by host, in lower case: the SHA-256 of the SubjectPublicKeyInfo (RFC 7469, section 2.4), 32 bytes. The certificate must
    /// verify and have this key.
    package var pins: [String: [UInt8]]

    package init(roots: Roots = .system, pins: [String: [UInt8]] = [:]) {
        self.roots = roots
        self.pins = pins
    }

    /// Reads certificates from a PEM file. Throws `settings.invalid` if there are none.
    package static func certificates(pem: [UInt8]) throws(PushError) -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(PEMText.strict(pem)), !certificates.isEmpty else {
            throw PushError(
                "settings.invalid", "the file of trust roots contains no PEM certificate",
                hint: "give a file with -----BEGIN CERTIFICATE-----")
        }
        return certificates
    }

    /// - Parameter protocols: Offered with ALPN.
    func configuration(certificate: ClientCertificate?, protocols: [String]) -> TLSConfiguration {
        var configuration = showing(certificate)
        configuration.applicationProtocols = protocols
        return configuration
    }

    /// A configuration for an HTTP client that presents this identity; it does not check pins.
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

    /// Why the certificate does not match the pin of this host; `nil` if it matches or the host has no pin.
    func objection(to certificate: NIOSSLCertificate?, of host: String) -> String? {
        guard let pin = pins[host.lowercased()] else { return nil }
        guard let key = try? certificate?.extractPublicKey().toSPKIBytes(), Array(SHA256.hash(data: key)) == pin else {
            return "its key is not the one that the settings pin for \(host)"
        }
        return nil
    }
}
