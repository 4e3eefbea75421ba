import Crypto
import FoundationEssentials
import PushCore

/// The keys of one message for one subscription (RFC 8291, section 3.4).
///
/// Properties bear the names of the RFC, so that its example can be compared step by step.
package struct WebPushEncryption: Sendable {
    package let ecdhSecret: [UInt8]
    package let prkKey: [UInt8]
    package let keyInfo: [UInt8]
    package let ikm: [UInt8]
    package let content: EncryptedContent

    /// - Parameters:
    ///   - sender: A key pair for this message alone.
    ///   - salt: 16 random bytes for this message alone.
    package init(recipient: WebPushRecipient, sender: P256.KeyAgreement.PrivateKey, salt: [UInt8]) throws {
        let senderKey = Array(sender.publicKey.x963Representation)
        ecdhSecret = try sender.sharedSecretFromKeyAgreement(with: recipient.key).withUnsafeBytes { Array($0) }
        keyInfo = Array("WebPush: info\0".utf8) + recipient.point + senderKey
        // HKDF of one block, spelt out as there: half of what it costs otherwise, and every message has it five times.
        prkKey = HMAC<SHA256>.of(ecdhSecret, key: recipient.secret)
        ikm = HMAC<SHA256>.of(keyInfo + [1], key: prkKey)
        content = EncryptedContent(ikm: ikm, salt: salt, keyID: senderKey)
    }

    /// Bytes of every body that ``seal(_:for:random:)`` makes of a plaintext: the sender's key has 65.
    static func size(plaintext: Int) -> Int { EncryptedContent.size(plaintext: plaintext, keyID: 65) }

    /// A body that only the recipient reads. Key and salt are drawn anew every time: outside of a rehearsal `random` must
    /// be fit for keys.
    static func seal(_ plaintext: [UInt8], for recipient: WebPushRecipient, random: any RandomSource) throws -> [UInt8] {
        let sender = try freshKey(random)
        let salt = random.bytes(EncryptedContent.saltSize)
        return try WebPushEncryption(recipient: recipient, sender: sender, salt: salt).content.seal(plaintext)
    }

    /// Bytes that are no number between 1 and the order of the curve are thrown away (FIPS 186-5, appendix A.2.2). Of good
    /// randomness one draw in four billions is, so that a row of them means a source that is broken.
    private static func freshKey(_ random: any RandomSource) throws -> P256.KeyAgreement.PrivateKey {
        for _ in 1..<8 {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32)) { return key }
        }
        return try P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32))
    }
}
