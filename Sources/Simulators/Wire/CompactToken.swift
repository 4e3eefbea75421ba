import Crypto
import CryptoExtras
import FoundationEssentials

/// A JSON Web Token in compact form (RFC 7519, RFC 7515 section 7.1), taken apart but not yet believed.
struct CompactToken: Sendable {
    let header: JSONValue
    let claims: JSONValue
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Reads three dot-separated base64url parts; nil unless the first two are JSON objects.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.bytes(parts[0]).flatMap({ JSONValue($0) }), header.members != nil,
            let claims = Base64URL.bytes(parts[1]).flatMap({ JSONValue($0) }), claims.members != nil,
            let signature = Base64URL.bytes(parts[2])
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array("\(parts[0]).\(parts[1])".utf8)
    }

    var algorithm: String? { header["alg"]?.string }
    var keyID: String? { header["kid"]?.string }
    var issuer: String? { claims["iss"]?.string }
    /// Seconds since 1970 (RFC 7519 section 4.1.6).
    var issuedAt: Int64? { claims["iat"]?.integer }

    /// Whether the token bears an ES256 signature of this key (RFC 7518 section 3.4: 64 bytes, R then S).
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard algorithm == "ES256", signature.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: signed)
    }

    /// Whether the token bears an RS256 signature of this key (RFC 7518 section 3.3).
    func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
        guard algorithm == "RS256" else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
    }
}
