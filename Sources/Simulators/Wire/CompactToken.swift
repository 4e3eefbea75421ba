import Crypto
import CryptoExtras
import FoundationEssentials

/// A JSON Web Token in compact form (RFC 7519, RFC 7515 section 7.1), parsed but not verified.
struct CompactToken: Sendable {
    let header: JSONValue
    let claims: JSONValue
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Parses three dot-separated base64url parts; returns `nil` unless the first two are JSON objects.
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
    /// A time claim, in whole seconds since 1970; `nil` if it is not a number. A fraction, which RFC 7519 section 2 allows ("NumericDate"),
    /// is rounded down.
    func seconds(_ claim: String) -> Int64? { Self.seconds(claims[claim]) }

    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard case .number(let text)? = value else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// A time claim that may also be a string, as some libraries write it.
    func lenientSeconds(_ claim: String) -> Int64? {
        guard case .string(let text)? = claims[claim] else { return seconds(claim) }
        // The string must be exactly a number, without whitespace.
        guard let value = JSONValue(Array(text.utf8)), value == .number(text) else { return nil }
        return Self.seconds(value)
    }

    /// A time claim that must be an integer.
    func wholeSeconds(_ claim: String) -> Int64? { claims[claim]?.integer }

    /// Whether an audience of the token matches: the `aud` claim is a string or a list of strings (RFC 7519 section 4.1.3).
    func isFor(_ isOwn: (String) -> Bool) -> Bool {
        let audience = claims["aud"]
        return (audience?.elements ?? [audience].compactMap(\.self)).contains { $0.string.map(isOwn) == true }
    }

    /// Whether the token has a valid ES256 signature of this key: 64 bytes, R then S (RFC 7518 section 3.4).
    ///
    /// - Parameter allowsDER: Whether to accept the ASN.1 DER form as well, which signing functions return before JWT libraries convert it.
    func isSigned(by key: P256.Signing.PublicKey, allowsDER: Bool = false) -> Bool {
        guard algorithm == "ES256" else { return false }
        // A DER signature may also have 64 bytes, so the length does not decide.
        if signature.count == 64, let raw = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(raw, for: signed)
        {
            return true
        }
        guard allowsDER, let der = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return key.isValidSignature(der, for: signed)
    }

    /// Whether the token has a valid RS256 signature of this key (RFC 7518 section 3.3).
    func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
        guard algorithm == "RS256" else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
    }
}
