import Crypto
package import NIOSSL
package import PushModel
import SwiftASN1
import X509

/// A certificate with its key, for client authentication in the TLS handshake (RFC 8446, section 4.4.2).
package struct ClientIdentity: Sendable {
    /// The client's own certificate, followed by the issuing certificates that were given.
    package let chain: [NIOSSLCertificate]
    package let key: NIOSSLPrivateKey
    /// SHA-256 of the client's own certificate, in hexadecimal; identifies it.
    package let fingerprint: String
    /// The client's own certificate.
    let certificate: X509.Certificate

    /// Reads a PKCS #12 file. Throws `credential.invalid`.
    package init(pkcs12 bytes: [UInt8], password: Secret) throws(PushError) {
        let bundle: PKCS12Bundle
        do throws(PKCS12Bundle.Fault) {
            bundle = try PKCS12Bundle(bytes, password: password.reveal())
        } catch {
            throw Self.refusal(error, isEmpty: password.isEmpty)
        }
        guard !bundle.keys.isEmpty else {
            throw .invalidCredential(
                "the PKCS #12 file contains no private key", "export certificate and key together, as .p12, where the key was made")
        }
        try self.init(bundle.certificates, keys: bundle.keys.map { PEMBlock(label: "PRIVATE KEY", bytes: $0) })
    }

    /// Reads PEM, or one certificate as DER. Throws `credential.invalid`.
    /// - Parameters:
    ///   - key: The key as PEM; `nil` if it is in the same text as the certificates.
    ///   - password: The password of an encrypted key.
    package init(certificates: [UInt8], key: [UInt8]?, password: Secret? = nil) throws(PushError) {
        let blocks = CredentialText.blocks(certificates)
        let chain = blocks.isEmpty ? [certificates] : blocks.filter { $0.label == "CERTIFICATE" }.map(\.bytes)
        let given = key.map(CredentialText.privateKeys) ?? blocks.filter(\.isPrivateKey)
        let keys = try given.map { block throws(PushError) in try Self.opened(block, password) }
        guard !keys.isEmpty else {
            let found = key.map { CredentialText.kind($0) } ?? "only \(CredentialText.kind(certificates))"
            throw .invalidCredential(
                "there is no private key beside the certificate: \(found)", "give the key that the certificate was requested with, in PEM")
        }
        guard !PEMText(certificates).isDamaged else {
            throw .invalidCredential(
                "a part of the certificate's file is damaged PEM", "export certificate and key together, as .p12, or give both in PEM")
        }
        try self.init(chain, keys: keys)
    }

    /// The chain and key that a connection presents.
    var shown: ClientCertificate { ClientCertificate(chain: chain, key: key) }

    /// - Parameter keys: Private keys, one of which belongs to a certificate.
    private init(_ certificates: [[UInt8]], keys: [PEMBlock]) throws(PushError) {
        let parsed = certificates.map { try? X509.Certificate(derEncoded: $0) }
        guard !parsed.isEmpty, !parsed.contains(where: { $0 == nil }) else {
            throw .invalidCredential(
                certificates.isEmpty ? "there is no certificate beside the private key" : "a certificate cannot be read",
                "export certificate and key together, as .p12, or give both in PEM")
        }
        for block in keys {
            guard let key = block.certificateKey,
                let index = parsed.firstIndex(where: { $0?.publicKey == key.publicKey }), let own = parsed[index]
            else { continue }
            do {
                let others = certificates.indices.filter { $0 != index }.map { certificates[$0] }
                chain = try ([certificates[index]] + others).map { try NIOSSLCertificate(bytes: $0, format: .der) }
                self.key = try NIOSSLPrivateKey(bytes: Array(block.text.utf8), format: .pem)
            } catch {
                break
            }
            certificate = own
            fingerprint = SHA256.hash(data: certificates[index]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return
        }
        throw .invalidCredential(
            "the private key does not belong to the certificate, or TLS does not support this kind of key",
            "give the key that the certificate was requested with, RSA or P-256")
    }

    private static func opened(_ block: PEMBlock, _ password: Secret?) throws(PushError) -> PEMBlock {
        guard block.isEncrypted else { return block }
        guard let password, !password.isEmpty else {
            throw .invalidCredential("the private key is encrypted, and no password was given", "give its password, or the key without one")
        }
        let key = try? NIOSSLPrivateKey(bytes: Array(block.text.utf8), format: .pem) { setter in
            setter(Array(password.reveal().utf8))
        }
        guard let bytes = try? key?.derBytes else {
            throw .invalidCredential("the password does not open the private key", "check the password")
        }
        // BoringSSL writes the key in the traditional format for RSA or EC, without saying which.
        for label in ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"] {
            let block = PEMBlock(label: label, bytes: bytes)
            if block.certificateKey != nil { return block }
        }
        throw .invalidCredential("TLS does not support this kind of private key", "use an RSA or P-256 key")
    }

    private static func refusal(_ fault: PKCS12Bundle.Fault, isEmpty: Bool) -> PushError {
        switch fault {
        case .malformed:
            .invalidCredential("this is not a PKCS #12 file", "export certificate and key together, as .p12, and use the file unchanged")
        case .wrongPassword where isEmpty:
            .invalidCredential("the PKCS #12 file has a password, and none was given", "give the password that it was exported with")
        case .wrongPassword:
            .invalidCredential("the password does not open the PKCS #12 file", "give the password that it was exported with")
        case .unsupported(let method):
            .invalidCredential(
                "the PKCS #12 file uses an unsupported encryption (\(method))",
                "convert it: openssl pkcs12 -in FILE -nodes | openssl pkcs12 -export -out NEW")
        }
    }
}

extension PEMBlock {
    /// The parsed key; `nil` for a kind of key that is not supported with certificates.
    fileprivate var certificateKey: X509.Certificate.PrivateKey? {
        try? X509.Certificate.PrivateKey(pemDocument: PEMDocument(type: label, derBytes: bytes))
    }
}
