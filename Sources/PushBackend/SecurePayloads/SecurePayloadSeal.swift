import Crypto
import PushModel

/// Encrypts and decrypts payloads with AES-256-GCM (NIST SP 800-38D).
///
/// The recipient, the expiration and the maximum number of reads are authenticated, so that a payload whose stored recipient was changed
/// cannot be decrypted.
struct SecurePayloadSeal: Sendable {
    /// 96 bits, the length that GCM uses directly as a nonce.
    static let nonceLength = 12

    private let key: SymmetricKey
    /// Identifies the key; stored beside each payload.
    let mark: [UInt8]

    init(key: SymmetricKey) throws(PushError) {
        guard key.bitCount == 256 else {
            throw PushError(
                "secure.key", "the key for secure payloads has \(key.bitCount) bits; AES-256 needs 256",
                hint: "give 32 random bytes", status: 500)
        }
        self.key = key
        mark = Self.mark(of: key)
    }

    /// A mark that distinguishes keys without revealing anything about them.
    static func mark(of key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("key of secure payloads".utf8), using: key).prefix(8))
    }

    /// Encrypts `text` as the content of `payload`. Returns nonce, ciphertext and tag.
    func close(_ text: [UInt8], as payload: SealedPayload, nonce: [UInt8]) throws(PushError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(
                text, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: Self.header(of: payload))
            return nonce + box.ciphertext + box.tag
        } catch {
            throw PushError("secure.sealed", "the payload could not be encrypted", status: 500)
        }
    }

    /// Decrypts a payload. Throws `secure.sealed` (410) if its record was changed or it was encrypted with another key.
    func open(_ payload: SealedPayload) throws(PushError) -> JSON {
        do {
            let box = try AES.GCM.SealedBox(combined: payload.sealed ?? [])
            let text = try AES.GCM.open(box, using: key, authenticating: Self.header(of: payload))
            return try JSON(parsing: text, numbers: .lossless)
        } catch {
            let isForeign = !payload.keyMark.isEmpty && payload.keyMark != mark
            throw PushError(
                "secure.sealed",
                "secure payload \(payload.id) cannot be decrypted: it was "
                    + (isForeign ? "encrypted with a key that is lost" : "changed at rest, or encrypted with another key"),
                hint: "ask the sender to send it again", status: 410)
        }
    }

    /// The authenticated data. As JSON, different values never give the same bytes.
    private static func header(of payload: SealedPayload) -> [UInt8] {
        let maximum: JSON = payload.maximumReads.map { .integer(Int64($0)) } ?? .null
        let header: JSON = [
            .string(payload.id), .string(payload.recipient.text.lowercased()),
            .integer(payload.expiration.milliseconds), maximum,
        ]
        return header.serialized()
    }
}
