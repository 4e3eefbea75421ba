import Crypto

/// The content coding `aes128gcm` (RFC 8188), for content of one record.
///
/// Property names follow the RFC, so that its examples can be compared step by step.
package struct EncryptedContent: Sendable {
    package static let name = "aes128gcm"
    /// The record size in the header. A single record may be shorter (section 2).
    static let recordSize = 4096
    static let saltSize = 16

    /// The size of the output of ``seal(_:)``, in bytes: salt, record size, key id with its length, plaintext with its delimiter, AES-GCM
    /// tag.
    static func size(plaintext: Int, keyID: Int) -> Int { saltSize + 4 + 1 + keyID + plaintext + 1 + 16 }

    /// Info strings for deriving key and nonce, with the HKDF block number (sections 2.2 and 2.3).
    private static let keyInfo = Array("Content-Encoding: \(name)\0\u{1}".utf8)
    private static let nonceInfo = Array("Content-Encoding: nonce\0\u{1}".utf8)

    package let prk: [UInt8]
    package let cek: [UInt8]
    package let nonce: [UInt8]
    private let header: [UInt8]

    /// - Parameters:
    ///   - ikm: The input keying material, which both sides know.
    ///   - salt: 16 bytes, never used before with this material: key and nonce follow from both (section 2.2).
    ///   - keyID: Identifies the keying material to the receiver; at most 255 bytes.
    package init(ikm: [UInt8], salt: [UInt8], keyID: [UInt8]) {
        prk = HMAC<SHA256>.of(ikm, key: salt)
        cek = Array(HMAC<SHA256>.of(Self.keyInfo, key: prk).prefix(16))
        nonce = Array(HMAC<SHA256>.of(Self.nonceInfo, key: prk).prefix(12))
        let size = withUnsafeBytes(of: UInt32(Self.recordSize).bigEndian) { Array($0) }
        header = salt + size + [UInt8(keyID.count)] + keyID
    }

    /// Returns header and record. The delimiter 2 marks the last record (section 2).
    package func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            plaintext + [2], using: SymmetricKey(data: cek), nonce: AES.GCM.Nonce(data: nonce))
        return header + box.ciphertext + box.tag
    }
}

extension HMAC<SHA256> {
    /// Returns the HMAC, 32 bytes.
    static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(authenticationCode(for: message, using: SymmetricKey(data: key)))
    }
}
