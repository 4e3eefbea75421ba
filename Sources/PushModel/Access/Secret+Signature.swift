import Crypto

extension Secret {
    /// HMAC-SHA256 (RFC 2104) of a message, keyed with this text: 64 lower-case hexadecimal digits.
    package func signature(of message: some Sequence<UInt8>) -> String {
        HMAC<SHA256>.authenticationCode(for: Array(message), using: SymmetricKey(data: Array(reveal().utf8)))
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
