import Crypto
import NIOSSL
import PushCore
import SwiftASN1
import X509

/// A certificate with its key, which a sender shows in the TLS handshake (RFC 8446, section 4.4.2).
package struct ClientIdentity: Sendable {
    /// The sender's own first, then those that vouch for it, as far as they were given.
    package let chain: [NIOSSLCertificate]
    package let key: NIOSSLPrivateKey
    /// SHA-256 of the sender's own certificate, in hexadecimal: what tells it from another one.
    package let fingerprint: String
    /// The sender's own.
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
                "the PKCS #12 file holds no private key", "export certificate and key together, as .p12, where the key was made")
        }
        try self.init(bundle.certificates, documents: bundle.keys.map { PEMDocument(type: "PRIVATE KEY", derBytes: $0) })
    }

    /// Reads PEM, or one certificate in DER. Throws `credential.invalid`.
    /// - Parameters:
    ///   - key: PEM; where it is nil it stands beside the certificates.
    ///   - password: of the key, where it is encrypted.
    package init(certificates: [UInt8], key: [UInt8]?, password: Secret? = nil) throws(PushError) {
        let documents = CredentialText.documents(certificates)
        let chain =
            documents.isEmpty ? [certificates] : documents.filter { $0.discriminator == "CERTIFICATE" }.map(\.derBytes)
        let keys = try (key.map(CredentialText.documents) ?? documents).filter { $0.discriminator.hasSuffix("PRIVATE KEY") }
            .map { document throws(PushError) in try Self.opened(document, password) }
        guard !keys.isEmpty else {
            let found = key.map(CredentialText.kind) ?? "only \(CredentialText.kind(certificates))"
            throw .invalidCredential(
                "there is no private key beside the certificate: \(found)", "give the key that the certificate was requested with, in PEM")
        }
        try self.init(chain, documents: keys)
    }

    /// What a connection shows.
    var shown: ClientCertificate { ClientCertificate(chain: chain, key: key) }

    /// - Parameter documents: private keys, of which one belongs to a certificate.
    private init(_ certificates: [[UInt8]], documents: [PEMDocument]) throws(PushError) {
        let parsed = certificates.map { try? X509.Certificate(derEncoded: $0) }
        guard !parsed.isEmpty, !parsed.contains(where: { $0 == nil }) else {
            throw .invalidCredential(
                certificates.isEmpty ? "there is no certificate beside the private key" : "a certificate cannot be read",
                "export certificate and key together, as .p12, or give both in PEM")
        }
        for document in documents {
            guard let key = try? X509.Certificate.PrivateKey(pemDocument: document),
                let index = parsed.firstIndex(where: { $0?.publicKey == key.publicKey }), let own = parsed[index]
            else { continue }
            do {
                let others = certificates.indices.filter { $0 != index }.map { certificates[$0] }
                chain = try ([certificates[index]] + others).map { try NIOSSLCertificate(bytes: $0, format: .der) }
                self.key = try NIOSSLPrivateKey(bytes: Array(document.pemString.utf8), format: .pem)
            } catch {
                break
            }
            certificate = own
            fingerprint = SHA256.hash(data: certificates[index]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return
        }
        throw .invalidCredential(
            "the private key does not belong to the certificate, or is of a kind that TLS does not take",
            "give the key that the certificate was requested with; RSA and P-256 are good")
    }

    private static func opened(_ document: PEMDocument, _ password: Secret?) throws(PushError) -> PEMDocument {
        guard document.discriminator == "ENCRYPTED PRIVATE KEY" else { return document }
        guard let password, !password.isEmpty else {
            throw .invalidCredential("the private key is encrypted, and there is no password", "give its password, or the key without one")
        }
        let key = try? NIOSSLPrivateKey(bytes: Array(document.pemString.utf8), format: .pem) { setter in
            setter(Array(password.reveal().utf8))
        }
        guard let bytes = try? key?.derBytes else {
            throw .invalidCredential("the password does not open the private key", "check the password")
        }
        // What comes out is RSA's own form, or that of elliptic curves.
        for type in ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"] {
            let document = PEMDocument(type: type, derBytes: bytes)
            if (try? X509.Certificate.PrivateKey(pemDocument: document)) != nil { return document }
        }
        throw .invalidCredential("the private key is of a kind that TLS does not take", "RSA and P-256 are good")
    }

    private static func refusal(_ fault: PKCS12Bundle.Fault, isEmpty: Bool) -> PushError {
        switch fault {
        case .malformed:
            .invalidCredential("this is no PKCS #12 file", "export certificate and key together, as .p12, and use the file unchanged")
        case .wrongPassword where isEmpty:
            .invalidCredential("the PKCS #12 file has a password, and none was given", "give the password that it was exported with")
        case .wrongPassword:
            .invalidCredential("the password does not open the PKCS #12 file", "give the password that it was exported with")
        case .unsupported(let method):
            .invalidCredential(
                "the PKCS #12 file is encrypted in a way that is not known here (\(method))",
                "write it anew: openssl pkcs12 -in FILE -nodes | openssl pkcs12 -export -out NEW")
        }
    }
}
