import Crypto
import CryptoExtras
import SwiftASN1

/// The encryption of one part of a file: the methods of RFC 7292, appendix C, which Keychain Access still uses, and PBES2 with AES (RFC
/// 8018, section 6.2).
struct PKCS12Cipher {
    private enum Method {
        case tripleDES(keys: Int)
        case rc2(bits: Int)
        case aes(bytes: Int, hash: KDF.Insecure.PBKDF2.HashFunction, initialization: [UInt8])
    }

    private let method: Method
    private let salt: [UInt8]
    private let iterations: Int

    private static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 13]
    private static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 12]

    /// - Parameter algorithm: An `AlgorithmIdentifier`.
    init(_ algorithm: ASN1Node) throws(PKCS12Bundle.Fault) {
        let identifier = try algorithm.part(0).objectIdentifier
        let parameters = try algorithm.part(1)
        switch identifier {
        case [1, 2, 840, 113_549, 1, 12, 1, 3]: method = .tripleDES(keys: 3)
        case [1, 2, 840, 113_549, 1, 12, 1, 4]: method = .tripleDES(keys: 2)
        case [1, 2, 840, 113_549, 1, 12, 1, 5]: method = .rc2(bits: 128)
        case [1, 2, 840, 113_549, 1, 12, 1, 6]: method = .rc2(bits: 40)
        case Self.pbes2:
            let (derivation, encryption) = (try parameters.part(0), try parameters.part(1))
            guard try derivation.part(0).objectIdentifier == Self.pbkdf2 else {
                throw .unsupported("\(try derivation.part(0).objectIdentifier)")
            }
            let details = try derivation.part(1)
            method = .aes(
                bytes: try Self.keySize(try encryption.part(0).objectIdentifier), hash: try Self.hash(details),
                initialization: try encryption.part(1).octets)
            salt = try details.part(0).octets
            iterations = try details.part(1).iterations
            return
        default: throw .unsupported("\(identifier)")
        }
        salt = try parameters.part(0).octets
        iterations = try parameters.part(1).iterations
    }

    private static func keySize(_ identifier: ASN1ObjectIdentifier) throws(PKCS12Bundle.Fault) -> Int {
        switch identifier {
        case [2, 16, 840, 1, 101, 3, 4, 1, 2]: 16
        case [2, 16, 840, 1, 101, 3, 4, 1, 22]: 24
        case [2, 16, 840, 1, 101, 3, 4, 1, 42]: 32
        default: throw .unsupported("\(identifier)")
        }
    }

    /// The hash of the key derivation; SHA-1 by default. An optional key size before it is ignored, because the cipher implies it.
    private static func hash(_ details: ASN1Node) throws(PKCS12Bundle.Fault) -> KDF.Insecure.PBKDF2.HashFunction {
        guard let named = details.parts.dropFirst(2).first(where: { $0.identifier == .sequence }) else { return .insecureSHA1 }
        let identifier = try named.part(0).objectIdentifier
        return switch identifier {
        case [1, 2, 840, 113_549, 2, 7]: .insecureSHA1
        case [1, 2, 840, 113_549, 2, 9]: .sha256
        case [1, 2, 840, 113_549, 2, 10]: .sha384
        case [1, 2, 840, 113_549, 2, 11]: .sha512
        default: throw .unsupported("\(identifier)")
        }
    }

    /// Decrypts and removes the padding. Throws `wrongPassword` if the padding is invalid.
    func decrypt(_ bytes: [UInt8], _ secret: PKCS12Secret) throws(PKCS12Bundle.Fault) -> [UInt8] {
        switch method {
        case .tripleDES(let keys):
            var key = derive(.encryption, secret, keys * 8)
            if keys == 2 { key += key.prefix(8) }
            return try unpadded(BlockChain.decrypt(bytes, derive(.initialization, secret, 8), TripleDES(key: key).decrypt))
        case .rc2(let bits):
            let key = RC2(key: derive(.encryption, secret, bits / 8), effectiveBits: bits)
            return try unpadded(BlockChain.decrypt(bytes, derive(.initialization, secret, 8), key.decrypt))
        case .aes(let size, let hash, let initialization):
            guard initialization.count == 16, !bytes.isEmpty, bytes.count.isMultiple(of: 16),
                let key = try? KDF.Insecure.PBKDF2.deriveKey(
                    from: secret.plain, salt: salt, using: hash, outputByteCount: size, unsafeUncheckedRounds: iterations),
                let vector = try? AES._CBC.IV(ivBytes: initialization)
            else { throw .malformed }
            guard let plain = try? AES._CBC.decrypt(bytes, using: key, iv: vector) else { throw .wrongPassword }
            return Array(plain)
        }
    }

    private func derive(_ purpose: PKCS12Secret.Purpose, _ secret: PKCS12Secret, _ count: Int) -> [UInt8] {
        secret.derive(purpose, .sha1, salt: salt, iterations: iterations, count: count)
    }

    private func unpadded(_ bytes: [UInt8]?) throws(PKCS12Bundle.Fault) -> [UInt8] {
        guard let bytes, let last = bytes.last else { throw .malformed }
        guard (1...8).contains(last), bytes.suffix(Int(last)).allSatisfy({ $0 == last }) else { throw .wrongPassword }
        return Array(bytes.dropLast(Int(last)))
    }
}

/// Cipher block chaining (CBC) with blocks of eight bytes.
private enum BlockChain {
    /// Returns `nil` if the length is not a multiple of the block size.
    static func decrypt(_ bytes: [UInt8], _ initialization: [UInt8], _ decrypt: (UInt64) -> UInt64) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: 8) else { return nil }
        var previous = UInt64(bigEndianBytes: initialization[...])
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let block = UInt64(bigEndianBytes: bytes[start..<start + 8])
            let plain = decrypt(block) ^ previous
            for shift in stride(from: 56, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: plain >> UInt64(shift))) }
            previous = block
        }
        return output
    }
}

extension UInt64 {
    init(bigEndianBytes bytes: ArraySlice<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
