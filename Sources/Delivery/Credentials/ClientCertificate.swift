import NIOSSL

/// What a sender shows in the TLS handshake: a chain, its own certificate first, and the key that belongs to it.
package struct ClientCertificate: Hashable, Sendable {
    package let chain: [NIOSSLCertificate]
    package let key: NIOSSLPrivateKey

    package init(chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        self.chain = chain
        self.key = key
    }
}
