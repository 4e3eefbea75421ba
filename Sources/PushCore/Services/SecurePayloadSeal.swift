import Crypto

/// Closes payloads with AES-256-GCM (NIST SP 800-38D) and opens them again.
///
/// What says who may read a payload, how long and how often is authenticated with it, so that one that was given another
/// addressee at rest does not open.
struct SecurePayloadSeal: Sendable {
    /// 96 bits, the length for which GCM uses the nonce as it is.
    static let nonceLength = 12

    private let key: SymmetricKey
    /// What is kept beside what this seals.
    let mark: [UInt8]

    init(key: SymmetricKey) throws(PushError) {
        guard key.bitCount == 256 else {
            throw PushError(
                "secure.key", "the key for secure payloads has \(key.bitCount) bits; AES-256 takes 256",
                hint: "give 32 random bytes", status: 500)
        }
        self.key = key
        mark = Self.mark(of: key)
    }

    /// Tells keys apart, and nothing about any.
    static func mark(of key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("key of secure payloads".utf8), using: key).prefix(8))
    }

    /// Nonce, ciphertext and tag of `text` as the content of `payload`.
    func close(_ text: [UInt8], as payload: SealedPayload, nonce: [UInt8]) throws(PushError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(
                text, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: Self.header(of: payload))
            return nonce + box.ciphertext + box.tag
        } catch {
            throw PushError("secure.sealed", "the payload could not be sealed", status: 500)
        }
    }

    /// Throws `secure.sealed` (410) for a payload that was changed at rest or sealed with another key.
    func open(_ payload: SealedPayload) throws(PushError) -> JSON {
        do {
            let box = try AES.GCM.SealedBox(combined: payload.sealed ?? [])
            return try JSON(parsing: AES.GCM.open(box, using: key, authenticating: Self.header(of: payload)))
        } catch {
            let isForeign = !payload.keyMark.isEmpty && payload.keyMark != mark
            throw PushError(
                "secure.sealed",
                "secure payload \(payload.id) does not open: it was "
                    + (isForeign ? "sealed with a key that is lost" : "changed at rest, or sealed with another key"),
                hint: "ask for it to be sent again", status: 410)
        }
    }

    /// JSON, because no two lists of these four have the same text.
    private static func header(of payload: SealedPayload) -> [UInt8] {
        let maximum: JSON = payload.maximumReads.map { .integer(Int64($0)) } ?? .null
        let header: JSON = [
            .string(payload.id), .string(payload.addressee.text.lowercased()),
            .integer(payload.expiration.milliseconds), maximum,
        ]
        return header.serialized()
    }
}
