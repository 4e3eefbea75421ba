import NIOCore
import NIOSSL
package import PushModel
import Synchronization

/// The certificate chain and private key of a server. They can be replaced while it runs.
package final class TLSIdentity: Sendable {
    private struct Pair {
        var chain: [NIOSSLCertificateSource]
        var key: NIOSSLPrivateKeySource
        var generation = 0
    }

    private let current: Mutex<Pair>

    /// - Parameters:
    ///   - certificate: The chain in PEM, the server's own certificate first.
    ///   - key: The private key in PEM.
    /// Throws `tls.unusable` if they cannot be parsed or do not match.
    package init(certificate: [UInt8], key: Secret) throws(PushError) {
        current = Mutex(try Self.pair(certificate, key))
    }

    /// Replaces the identity for future handshakes. Throws `tls.unusable` and keeps the previous one if the new one is invalid.
    package func exchange(certificate: [UInt8], key: Secret) throws(PushError) {
        var new = try Self.pair(certificate, key)
        current.withLock { pair in
            new.generation = pair.generation + 1
            pair = new
        }
    }

    func configuration() throws -> TLSConfiguration {
        let first = current.withLock { $0 }
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: first.chain, privateKey: first.key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.sslContextCallback = { [self] _, promise in
            let pair = current.withLock { $0 }
            var override = NIOSSLContextConfigurationOverride()
            if pair.generation != first.generation {
                override.certificateChain = pair.chain
                override.privateKey = pair.key
            }
            promise.succeed(override)
        }
        return configuration
    }

    private static func pair(_ certificate: [UInt8], _ key: Secret) throws(PushError) -> Pair {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(PEMText.strict(certificate))
            let privateKey = try NIOSSLPrivateKey(bytes: PEMText.strict(Array(key.reveal().utf8)), format: .pem)
            let pair = Pair(chain: chain.map { .certificate($0) }, key: .privateKey(privateKey))
            // Creating a context checks that the key matches the certificate.
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: pair.chain, privateKey: pair.key))
            return pair
        } catch {
            throw PushError(
                "tls.unusable", "the certificate or its key cannot be used",
                hint: "use a chain and the key of its first certificate, both in PEM", status: 400)
        }
    }
}
