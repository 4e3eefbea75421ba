import Crypto
import SwiftASN1

/// Certificates and private keys in one password-protected file (PKCS #12, RFC 7292), as Keychain Access, Windows and OpenSSL write it.
///
/// The reader of the TLS library crashes on files without a key or certificate, and such files may reach a server over the network.
struct PKCS12Bundle: Sendable {
    enum Fault: Error, Equatable {
        case malformed
        case wrongPassword
        /// The object identifier of an unsupported method.
        case unsupported(String)
    }

    /// The certificates as DER, in file order.
    private(set) var certificates: [[UInt8]] = []
    /// The private keys as PKCS #8, in file order.
    private(set) var keys: [[UInt8]] = []

    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    private static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 6]
    private static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 1]
    private static let shroudedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 2]
    private static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
    private static let x509: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 22, 1]

    init(_ bytes: [UInt8], password: String) throws(Fault) {
        let parts = try ASN1Node.sequence(bytes)
        guard parts.count >= 2, let content = try Self.content(of: parts[1], Self.data) else { throw .malformed }
        let safe = content.octets
        let secret = try Self.secret(password, opening: safe, parts.count > 2 ? parts[2] : nil)
        for info in try ASN1Node.sequence(safe) {
            if let plain = try Self.content(of: info, Self.data) {
                try take(plain.octets, secret)
            } else if let sealed = try Self.content(of: info, Self.encryptedData) {
                let inner = try sealed.part(1)
                try take(try PKCS12Cipher(try inner.part(1)).decrypt(try inner.part(2).octets, secret), secret)
            }
        }
    }

    /// Adds the certificates and keys of one part of the file. Other kinds of bags are ignored.
    private mutating func take(_ bytes: [UInt8], _ secret: PKCS12Secret) throws(Fault) {
        let bags: [ASN1Node]
        do throws(Fault) {
            bags = try ASN1Node.sequence(bytes)
        } catch {
            // Data decrypted with a wrong key may have valid padding by chance.
            throw .wrongPassword
        }
        for bag in bags {
            let value = try bag.part(1).part(0)
            switch try bag.part(0).objectIdentifier {
            case Self.keyBag: keys.append(Array(value.encodedBytes))
            case Self.shroudedKeyBag:
                keys.append(try PKCS12Cipher(try value.part(0)).decrypt(try value.part(1).octets, secret))
            case Self.certificateBag where try value.part(0).objectIdentifier == Self.x509:
                certificates.append(try value.part(1).part(0).octets)
            default: continue
            }
        }
    }

    /// The content of a `ContentInfo` of this type; `nil` for another type.
    private static func content(of info: ASN1Node, _ type: ASN1ObjectIdentifier) throws(Fault) -> ASN1Node? {
        try info.part(0).objectIdentifier == type ? try info.part(1).part(0) : nil
    }

    /// The password in the encoding that verifies the file's checksum: an empty password has two encodings (RFC 7292, appendix B.1).
    private static func secret(_ password: String, opening content: [UInt8], _ mac: ASN1Node?) throws(Fault) -> PKCS12Secret {
        let candidates = password.isEmpty ? [PKCS12Secret(password), .absent] : [PKCS12Secret(password)]
        guard let mac, let check = try PKCS12Checksum(mac) else { return candidates[0] }
        guard let secret = candidates.first(where: { check.holds(for: content, $0) }) else { throw .wrongPassword }
        return secret
    }
}

/// The checksum `MacData` (RFC 7292, section 4).
private struct PKCS12Checksum {
    private let hash: PKCS12Hash
    private let digest: [UInt8]
    private let salt: [UInt8]
    private let iterations: Int

    /// Returns `nil` for an unknown method. A wrong password then shows up only on decryption.
    init?(_ node: ASN1Node) throws(PKCS12Bundle.Fault) {
        let info = try node.part(0)
        guard let hash = PKCS12Hash(try info.part(0).part(0).objectIdentifier) else { return nil }
        self.hash = hash
        digest = try info.part(1).octets
        salt = try node.part(1).octets
        iterations = node.parts.count > 2 ? try node.part(2).iterations : 1
    }

    func holds(for content: [UInt8], _ secret: PKCS12Secret) -> Bool {
        let key = secret.derive(.mac, hash, salt: salt, iterations: iterations, count: hash.size)
        return hash.authenticationCode(content, key) == digest
    }
}

extension ASN1Node {
    /// The elements of a SEQUENCE, as BER, which section 4 allows.
    fileprivate static func sequence(_ bytes: [UInt8]) throws(PKCS12Bundle.Fault) -> [ASN1Node] {
        guard let node = try? BER.parse(bytes), node.identifier == .sequence else { throw .malformed }
        return node.parts
    }

    /// The elements of a constructed node; empty for a primitive one.
    var parts: [ASN1Node] {
        if case .constructed(let nodes) = content { Array(nodes) } else { [] }
    }

    func part(_ index: Int) throws(PKCS12Bundle.Fault) -> ASN1Node {
        let parts = parts
        guard index < parts.count else { throw .malformed }
        return parts[index]
    }

    var objectIdentifier: ASN1ObjectIdentifier {
        get throws(PKCS12Bundle.Fault) {
            guard let identifier = try? ASN1ObjectIdentifier(berEncoded: self) else { throw .malformed }
            return identifier
        }
    }

    /// The bytes of a string, which BER may split into parts.
    var octets: [UInt8] {
        switch content {
        case .primitive(let bytes): Array(bytes)
        case .constructed(let nodes): nodes.flatMap(\.octets)
        }
    }

    /// The iteration count of the key derivation. Bounded at a million, so that a file cannot keep a server busy.
    var iterations: Int {
        get throws(PKCS12Bundle.Fault) {
            guard let count = try? Int(berEncoded: self), (1...1_000_000).contains(count) else { throw .malformed }
            return count
        }
    }
}
