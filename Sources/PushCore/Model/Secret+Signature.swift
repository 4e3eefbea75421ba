import Crypto

extension Secret {
    /// HMAC-SHA256 (RFC 2104) of a message, with this text as the key: 64 hexadecimal digits, letters in lower case.
    package func signature(of message: some Sequence<UInt8>) -> String {
        HMAC<SHA256>.authenticationCode(for: Array(message), using: SymmetricKey(data: Array(reveal().utf8)))
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
