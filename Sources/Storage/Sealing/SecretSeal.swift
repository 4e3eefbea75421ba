import Crypto
package import PushModel

/// Seals and opens the secrets of a database with AES-256-GCM (NIST SP 800-38D).
///
/// A sealed value consists of a version byte, the key id (8 bytes), 24 random bytes, the ciphertext, and the tag (16 bytes). The first 12
/// random bytes derive a key for this value, and the last 12 are its nonce. The number of values per key file therefore has no practical
/// limit. The field is authenticated data: a value that is moved to another row cannot be opened.
package struct SecretSeal: Sendable {
    /// Size of a sealed value without its ciphertext, which is as long as the plaintext.
    static let overhead = headLength + randomLength + tagLength

    private static let version: UInt8 = 1
    private static let keyIDLength = 8
    private static let headLength = 1 + keyIDLength
    private static let randomLength = 24
    private static let tagLength = 16

    /// Distinguishes keys without revealing anything about them.
    let keyID: [UInt8]
    let random: any RandomSource
    private let key: SymmetricKey

    /// Derives the key.
    ///
    /// - Parameters:
    ///   - payloadKey: the key in the server's key file. It also seals secure payloads; the key derived here is a different one.
    ///   - random: source for sealed values, and for access keys that replace lost ones.
    package init(payloadKey: [UInt8], random: any RandomSource) {
        let material = SymmetricKey(data: payloadKey)
        key = Self.derived(from: material, for: "PushHost secrets at rest 1")
        keyID = Self.derived(from: material, for: "PushHost secrets at rest 1: key id").withUnsafeBytes {
            Array($0.prefix(Self.keyIDLength))
        }
        self.random = random
    }

    private static func derived(from key: SymmetricKey, for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(purpose.utf8), outputByteCount: 32)
    }

    func seal(_ text: [UInt8], for field: SealedField) throws(PushError) -> [UInt8] {
        let random = random.bytes(Self.randomLength)
        let head = [Self.version] + keyID
        do {
            let box = try AES.GCM.seal(
                text, using: key(of: random), nonce: AES.GCM.Nonce(data: random.suffix(12)), authenticating: head + field.authenticated)
            return head + random + box.ciphertext + box.tag
        } catch {
            throw StorageError.unavailable("a secret could not be encrypted: \(error)", hint: "try again")
        }
    }

    /// Throws `UnreadableValue` for a value of another key or field, and for one that was modified at rest.
    func open(_ sealed: [UInt8], of field: SealedField) throws -> [UInt8] {
        guard sealed.count >= Self.overhead else { throw UnreadableValue(reason: "its encrypted value is truncated") }
        guard sealed[0] == Self.version else { throw UnreadableValue(reason: "unknown version \(sealed[0]) of its encrypted value") }
        let head = Array(sealed[..<Self.headLength])
        guard head.dropFirst().elementsEqual(keyID) else { throw UnreadableValue(reason: "it is encrypted with another key") }
        let random = Array(sealed[Self.headLength..<Self.headLength + Self.randomLength])
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: random.suffix(12)),
                ciphertext: sealed[(Self.headLength + Self.randomLength)..<(sealed.count - Self.tagLength)],
                tag: sealed.suffix(Self.tagLength))
            return try Array(AES.GCM.open(box, using: key(of: random), authenticating: head + field.authenticated))
        } catch {
            throw UnreadableValue(reason: "its encrypted value cannot be decrypted: it was modified at rest or belongs to another row")
        }
    }

    private func key(of random: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.expand(pseudoRandomKey: key, info: random.prefix(12), outputByteCount: 32)
    }

    // MARK: - JSON

    func seal(_ json: JSON, for field: SealedField) throws(PushError) -> [UInt8] { try seal(json.serialized(), for: field) }

    /// - Parameter sealed: nil for a row without secrets.
    func json(_ sealed: [UInt8]?, of field: SealedField) throws -> JSON {
        try sealed.map { try JSON(parsing: open($0, of: field)) } ?? .object(JSONObject())
    }
}
