package import Crypto
import FoundationEssentials
import PushModel

/// The encryption of one message for one subscription (RFC 8291, section 3.4).
///
/// Property names follow the RFC, so that its example can be compared step by step.
package struct WebPushEncryption: Sendable {
    package let ecdhSecret: [UInt8]
    package let prkKey: [UInt8]
    package let keyInfo: [UInt8]
    package let ikm: [UInt8]
    package let content: EncryptedContent

    /// - Parameters:
    ///   - sender: A key pair used for this message only.
    ///   - salt: 16 random bytes used for this message only.
    package init(recipient: WebPushRecipient, sender: P256.KeyAgreement.PrivateKey, salt: [UInt8]) throws {
        let senderKey = Array(sender.publicKey.x963Representation)
        ecdhSecret = try sender.sharedSecretFromKeyAgreement(with: recipient.key).withUnsafeBytes { Array($0) }
        keyInfo = Array("WebPush: info\0".utf8) + recipient.point + senderKey
        // HKDF for a single block, written out as in the RFC. This halves the cost; every message needs it five times.
        prkKey = HMAC<SHA256>.of(ecdhSecret, key: recipient.secret)
        ikm = HMAC<SHA256>.of(keyInfo + [1], key: prkKey)
        content = EncryptedContent(ikm: ikm, salt: salt, keyID: senderKey)
    }

    /// The size of every body from ``seal(_:for:random:)``, in bytes. The sender's public key has 65.
    static func size(plaintext: Int) -> Int { EncryptedContent.size(plaintext: plaintext, keyID: 65) }

    /// Encrypts a body for one recipient. Every call draws a new key and salt, so outside of a rehearsal `random` must be cryptographically
    /// secure.
    static func seal(_ plaintext: [UInt8], for recipient: WebPushRecipient, random: any RandomSource) throws -> [UInt8] {
        let sender = try freshKey(random)
        let salt = random.bytes(EncryptedContent.saltSize)
        return try WebPushEncryption(recipient: recipient, sender: sender, salt: salt).content.seal(plaintext)
    }

    /// Generates a key by rejection sampling (FIPS 186-5, appendix A.2.2). A good source yields an invalid value once in four billion
    /// draws, so several in a row mean a broken source.
    private static func freshKey(_ random: any RandomSource) throws -> P256.KeyAgreement.PrivateKey {
        for _ in 1..<8 {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32)) { return key }
        }
        return try P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32))
    }
}
