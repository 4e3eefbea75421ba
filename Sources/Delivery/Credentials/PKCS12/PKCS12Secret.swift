import Crypto
import SwiftASN1

/// A password, and the keys derived from it (RFC 7292, appendix B).
struct PKCS12Secret: Sendable {
    /// The purpose of a derived key: the ID of appendix B.3.
    enum Purpose: UInt8 { case encryption = 1, initialization, mac }

    /// The password as big-endian UTF-16 with a terminating zero (appendix B.1).
    private let characters: [UInt8]
    /// The password as UTF-8, for PBES2.
    let plain: [UInt8]

    init(_ password: String) {
        characters = (Array(password.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        plain = Array(password.utf8)
    }

    private init() { (characters, plain) = ([], []) }

    /// An absent password, encoded as no bytes at all.
    static let absent = PKCS12Secret()

    /// - Parameter count: Number of bytes to derive.
    func derive(_ purpose: Purpose, _ hash: PKCS12Hash, salt: [UInt8], iterations: Int, count: Int) -> [UInt8] {
        let block = hash.blockSize
        let head = [UInt8](repeating: purpose.rawValue, count: block)
        var input = Self.filled(salt, block) + Self.filled(characters, block)
        var output: [UInt8] = []
        while output.count < count {
            var digest = hash.digest(head + input)
            for _ in 1..<max(1, iterations) { digest = hash.digest(digest) }
            output += digest
            let addend = Array(Self.filled(digest, block).prefix(block))
            for start in stride(from: 0, to: input.count, by: block) {
                var carry = 1
                for index in (0..<block).reversed() {
                    carry += Int(input[start + index]) + Int(addend[index])
                    input[start + index] = UInt8(carry & 0xff)
                    carry >>= 8
                }
            }
        }
        return Array(output.prefix(count))
    }

    /// Repeats the bytes up to a whole number of blocks.
    private static func filled(_ bytes: [UInt8], _ block: Int) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let length = (bytes.count + block - 1) / block * block
        return (0..<length).map { bytes[$0 % bytes.count] }
    }
}

/// The supported hash functions.
enum PKCS12Hash: Sendable {
    case sha1, sha256, sha384, sha512

    init?(_ identifier: ASN1ObjectIdentifier) {
        switch identifier {
        case [1, 3, 14, 3, 2, 26]: self = .sha1
        case [2, 16, 840, 1, 101, 3, 4, 2, 1]: self = .sha256
        case [2, 16, 840, 1, 101, 3, 4, 2, 2]: self = .sha384
        case [2, 16, 840, 1, 101, 3, 4, 2, 3]: self = .sha512
        default: return nil
        }
    }

    var size: Int {
        switch self {
        case .sha1: Insecure.SHA1.byteCount
        case .sha256: SHA256.byteCount
        case .sha384: SHA384.byteCount
        case .sha512: SHA512.byteCount
        }
    }

    var blockSize: Int {
        switch self {
        case .sha1, .sha256: 64
        case .sha384, .sha512: 128
        }
    }

    func digest(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }

    func authenticationCode(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let key = SymmetricKey(data: key)
        return switch self {
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        case .sha384: Array(HMAC<SHA384>.authenticationCode(for: bytes, using: key))
        case .sha512: Array(HMAC<SHA512>.authenticationCode(for: bytes, using: key))
        }
    }
}
