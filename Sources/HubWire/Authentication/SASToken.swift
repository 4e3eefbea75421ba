import Crypto
import FoundationEssentials
package import PushModel

/// A shared access signature: access to a resource until it expires, signed with the key of a rule.
///
/// `SharedAccessSignature sr=RESOURCE&sig=SIGNATURE&se=EXPIRY&skn=RULE`, with the fields in any order.
package struct SASToken: Sendable {
    /// The encoded resource, byte by byte as in the header. These bytes were signed, and encoders differ.
    package var resource: String
    /// HMAC-SHA256 over resource, line feed and expiry.
    package var signature: [UInt8]
    /// The expiry in seconds since 1970, as written in the header. This text is signed too.
    package var expiry: String
    package var keyName: String

    private static let scheme = "SharedAccessSignature"

    /// Maximum difference between a client's clock and the server's.
    package static let clockSkew = Duration.seconds(300)

    /// Throws `sas.missing` if there is no header, `sas.malformed` if it cannot be parsed (both 401).
    package init(authorization: String?) throws(PushError) {
        guard let text = authorization?.trimmed, !text.isEmpty else {
            throw SASError.missing.error("the request has no Authorization header")
        }
        guard let blank = text.firstIndex(of: " "), text[..<blank].lowercased() == Self.scheme.lowercased() else {
            throw SASError.malformed.error("the Authorization header is not a \(Self.scheme)")
        }
        var fields: [Substring: Substring] = [:]
        for field in text[blank...].drop(while: { $0 == " " }).split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, fields.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw SASError.malformed.error("the \(Self.scheme) has a field without value or a duplicate field")
            }
        }
        func field(_ name: Substring) throws(PushError) -> String {
            guard let value = fields[name], !value.isEmpty else {
                throw SASError.malformed.error("the \(Self.scheme) has no \(name)")
            }
            return String(value)
        }
        resource = try field("sr")
        expiry = try field("se")
        keyName = PercentEncoding.decodeForm(try field("skn"))
        // A plus sign in base64 that the client did not encode must not be decoded as a space.
        guard let signature = Data(base64Encoded: PercentEncoding.decode(try field("sig"))) else {
            throw SASError.malformed.error("the signature is not base64")
        }
        self.signature = Array(signature)
        guard expiry.utf8.allSatisfy({ (0x30...0x39).contains($0) }), Int64(expiry) != nil else {
            throw SASError.malformed.error("the expiry is not a whole number of seconds since 1970")
        }
    }

    /// Signs a new token. `resource` is an unencoded address such as `sb://host/hub`.
    package init(minting resource: String, rule: AuthorizationRule, expiration: Timestamp) {
        self.init(minting: resource, keyName: rule.name, key: rule.primaryKey, expiration: expiration)
    }

    /// Signs a new token with the key of a connection string.
    package init(minting resource: String, connection: ConnectionString, expiration: Timestamp) {
        self.init(minting: resource, keyName: connection.keyName, key: connection.key, expiration: expiration)
    }

    private init(minting resource: String, keyName: String, key: Secret, expiration: Timestamp) {
        self.resource = PercentEncoding.encode(resource.lowercased())
        self.keyName = keyName
        expiry = String(expiration.seconds)
        signature = []
        signature = Array(Self.code(of: signedText, key: key))
    }

    /// The header's value. It grants access to anyone who reads it, until it expires.
    package var header: String {
        let signature = PercentEncoding.encode(Data(signature).base64EncodedString())
        return "\(Self.scheme) sr=\(resource)&sig=\(signature)&se=\(expiry)&skn=\(PercentEncoding.encode(keyName))"
    }

    /// The expiry as a time; nil only for a number out of range.
    package var expiration: Timestamp? { Int64(expiry).map { Timestamp(seconds: $0) } }

    private var signedText: [UInt8] { Array("\(resource)\n\(expiry)".utf8) }

    /// Whether the key produced the signature. Takes constant time for wrong signatures.
    package func isSigned(by key: Secret) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signedText, using: Self.symmetric(key))
    }

    /// The key's text itself is used as the HMAC key, not its base64-decoded bytes.
    private static func symmetric(_ key: Secret) -> SymmetricKey { SymmetricKey(data: Array(key.reveal().utf8)) }

    private static func code(of text: [UInt8], key: Secret) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: text, using: symmetric(key))
    }
}
