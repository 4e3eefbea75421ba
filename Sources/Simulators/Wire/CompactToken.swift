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
    /// A claim that holds a time, in whole seconds since 1970. RFC 7519 section 2 allows a fraction ("NumericDate"), which is rounded
    /// down; nil for anything but a number.
    func seconds(_ claim: String) -> Int64? { Self.seconds(claims[claim]) }

    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard case .number(let text)? = value else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// The same claim, written as a number or as a text that holds one, as some libraries do.
    func lenientSeconds(_ claim: String) -> Int64? {
        guard case .string(let text)? = claims[claim] else { return seconds(claim) }
        // The text is a number and nothing else: no blanks around it.
        guard let value = JSONValue(Array(text.utf8)), value == .number(text) else { return nil }
        return Self.seconds(value)
    }

    /// The same claim where a fraction or a text is not allowed.
    func wholeSeconds(_ claim: String) -> Int64? { claims[claim]?.integer }

    /// Whether an audience is what the token is for: the `aud` claim is a text or a list of texts (RFC 7519 section 4.1.3).
    func isFor(_ isOwn: (String) -> Bool) -> Bool {
        let audience = claims["aud"]
        return (audience?.elements ?? [audience].compactMap(\.self)).contains { $0.string.map(isOwn) == true }
    }

    /// Whether the token bears an ES256 signature of this key: 64 bytes, R then S (RFC 7518 section 3.4).
    ///
    /// - Parameter allowsDER: Whether the ASN.1 DER form is accepted as well, which signing functions return before JWT libraries
    ///   convert it.
    func isSigned(by key: P256.Signing.PublicKey, allowsDER: Bool = false) -> Bool {
        guard algorithm == "ES256" else { return false }
        // A DER signature may have 64 bytes, too, so that the form is not known from the length.
        if signature.count == 64, let raw = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(raw, for: signed)
        {
            return true
        }
        guard allowsDER, let der = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return key.isValidSignature(der, for: signed)
    }

    /// Whether the token bears an RS256 signature of this key (RFC 7518 section 3.3).
    func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
        guard algorithm == "RS256" else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
    }
}
