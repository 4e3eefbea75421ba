import Crypto

/// Decrypts messages (RFC 8291): the receiving side of the content coding `aes128gcm` (RFC 8188).
enum WebPushDecryption {
    struct Failure: Error {
        var reason: String
    }

    /// Salt, record size and length of the key id, in bytes.
    private static let fixedHeaderSize = 21
    private static let keySize = 65
    private static let tagSize = 16

    static func message(in body: [UInt8], for subscription: WebPushSubscription) throws(Failure) -> [UInt8] {
        guard body.count >= fixedHeaderSize, body.count >= fixedHeaderSize + Int(body[20]) else {
            throw Failure(reason: "it has no aes128gcm header")
        }
        let salt = Array(body[..<16])
        let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        let senderKey = Array(body[fixedHeaderSize..<fixedHeaderSize + Int(body[20])])
        let record = Array(body[(fixedHeaderSize + senderKey.count)...])
        guard senderKey.count == keySize, let sender = try? P256.KeyAgreement.PublicKey(x963Representation: senderKey),
            let shared = try? subscription.key.sharedSecretFromKeyAgreement(with: sender)
        else { throw Failure(reason: "its key id is not a P-256 key") }
        guard recordSize >= 18, record.count <= recordSize else { throw Failure(reason: "it has more than one record") }
        guard record.count > tagSize else { throw Failure(reason: "its record is too short") }

        let info = Array("WebPush: info".utf8) + [0] + subscription.publicKey + senderKey
        let material = expand(
            hmac(subscription.secret, shared.withUnsafeBytes { Array($0) }), info: info, count: 32)
        let base = hmac(salt, material)
        let key = expand(base, info: Array("Content-Encoding: aes128gcm".utf8) + [0], count: 16)
        let nonce = expand(base, info: Array("Content-Encoding: nonce".utf8) + [0], count: 12)
        return try unpadded(open(record, key: key, nonce: nonce))
    }

    private static func open(_ record: [UInt8], key: [UInt8], nonce: [UInt8]) throws(Failure) -> [UInt8] {
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: record.dropLast(tagSize), tag: record.suffix(tagSize)),
            let padded = try? AES.GCM.open(box, using: SymmetricKey(data: key))
        else { throw Failure(reason: "it was encrypted with other keys, or modified in transit") }
        return Array(padded)
    }

    /// Removes the padding: the last record ends with a 2 and any number of zeros (RFC 8188 section 2).
    private static func unpadded(_ padded: [UInt8]) throws(Failure) -> [UInt8] {
        guard let delimiter = padded.lastIndex(where: { $0 != 0 }), padded[delimiter] == 2 else {
            throw Failure(reason: "its padding is not that of a last record")
        }
        return Array(padded[..<delimiter])
    }

    private static func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: data, using: SymmetricKey(data: key)))
    }

    /// HKDF-Expand (RFC 5869 section 2.3) for at most one block of 32 bytes.
    private static func expand(_ key: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        Array(hmac(key, info + [1]).prefix(count))
    }
}
