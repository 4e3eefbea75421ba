import NIOCore
import NIOSSL
import PushCore
import Synchronization

/// The certificate chain and the private key of a server; they can be exchanged while it runs.
package final class TLSIdentity: Sendable {
    private struct Pair {
        var chain: [NIOSSLCertificateSource]
        var key: NIOSSLPrivateKeySource
        var generation = 0
    }

    private let current: Mutex<Pair>

    /// - Parameters:
    ///   - certificate: the chain in PEM, the server's own first.
    ///   - key: its private key in PEM.
    /// Throws `tls.unusable` where they cannot be read or do not belong together.
    package init(certificate: [UInt8], key: Secret) throws(PushError) {
        current = Mutex(try Self.pair(certificate, key))
    }

    /// Handshakes from now on show these. Throws `tls.unusable`; then the ones before stay.
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
            // The library looks whether they belong together when it makes a context of them.
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: pair.chain, privateKey: pair.key))
            return pair
        } catch {
            throw PushError(
                "tls.unusable", "the certificate or its key cannot be used",
                hint: "give the chain and the key that belongs to its first certificate, both in PEM", status: 400)
        }
    }
}
