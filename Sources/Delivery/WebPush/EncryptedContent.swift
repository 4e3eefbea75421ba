import Crypto

/// The content coding `aes128gcm` (RFC 8188), for a content of one record.
///
/// Properties bear the names of the RFC, so that its examples can be compared step by step.
package struct EncryptedContent: Sendable {
    package static let name = "aes128gcm"
    /// The record size that the header names. One record may be shorter (section 2).
    static let recordSize = 4096
    static let saltSize = 16

    /// Bytes of what ``seal(_:)`` makes: salt, record size and the identifier with its length; then the plaintext with its delimiter
    /// and the tag of AES-GCM.
    static func size(plaintext: Int, keyID: Int) -> Int { saltSize + 4 + 1 + keyID + plaintext + 1 + 16 }

    package let prk: [UInt8]
    package let cek: [UInt8]
    package let nonce: [UInt8]
    private let header: [UInt8]

    /// - Parameters:
    ///   - ikm: The input keying material, which both sides know.
    ///   - salt: 16 bytes that were never used with this material before: key and nonce follow from it (section 2.2).
    ///   - keyID: Tells the receiver which material it is; at most 255 bytes.
    package init(ikm: [UInt8], salt: [UInt8], keyID: [UInt8]) {
        let extracted = HKDF<SHA256>.extract(inputKeyMaterial: SymmetricKey(data: ikm), salt: salt)
        func expand(_ info: String, _ count: Int) -> [UInt8] {
            HKDF<SHA256>.expand(
                pseudoRandomKey: extracted, info: Array("Content-Encoding: \(info)\0".utf8), outputByteCount: count
            ).withUnsafeBytes { Array($0) }
        }
        prk = Array(extracted)
        cek = expand(Self.name, 16)
        nonce = expand("nonce", 12)
        let size = withUnsafeBytes(of: UInt32(Self.recordSize).bigEndian) { Array($0) }
        header = salt + size + [UInt8(keyID.count)] + keyID
    }

    /// Header and record. The delimiter 2 says that no other record follows (section 2).
    package func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            plaintext + [2], using: SymmetricKey(data: cek), nonce: AES.GCM.Nonce(data: nonce))
        return header + box.ciphertext + box.tag
    }
}
