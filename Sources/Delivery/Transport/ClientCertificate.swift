package import NIOSSL

/// The certificate chain that a client presents in the TLS handshake, its own certificate first, and the private key.
package struct ClientCertificate: Hashable, Sendable {
    package let chain: [NIOSSLCertificate]
    package let key: NIOSSLPrivateKey

    package init(chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        self.chain = chain
        self.key = key
    }
}
