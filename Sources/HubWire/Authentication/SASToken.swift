import Crypto
import FoundationEssentials
import PushCore

/// A shared access signature: the right to a resource until a moment, signed with the key of a rule.
///
/// `SharedAccessSignature sr=RESOURCE&sig=SIGNATURE&se=EXPIRY&skn=RULE`, with the fields in any order.
package struct SASToken: Sendable {
    /// The resource, encoded, byte by byte as it stands in the header: that is what was signed, and encoders differ.
    package var resource: String
    /// HMAC-SHA256 over resource, line feed and expiry.
    package var signature: [UInt8]
    /// Seconds since 1970 as they stand in the header, which are signed too.
    package var expiry: String
    package var keyName: String

    private static let scheme = "SharedAccessSignature"

    /// How far the clocks of a client and ours may be apart.
    package static let clockSkew = Duration.seconds(300)

    /// Throws `sas.missing` where there is no header and `sas.malformed` (both 401).
    package init(authorization: String?) throws(PushError) {
        guard let text = authorization?.trimmed, !text.isEmpty else {
            throw SASRefusal.missing.error("the request has no Authorization header")
        }
        guard let blank = text.firstIndex(of: " "), text[..<blank].lowercased() == Self.scheme.lowercased() else {
            throw SASRefusal.malformed.error("the Authorization header is no \(Self.scheme)")
        }
        var fields: [Substring: Substring] = [:]
        for field in text[blank...].drop(while: { $0 == " " }).split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, fields.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw SASRefusal.malformed.error("the \(Self.scheme) has a field without value, or one twice")
            }
        }
        func field(_ name: Substring) throws(PushError) -> String {
            guard let value = fields[name], !value.isEmpty else {
                throw SASRefusal.malformed.error("the \(Self.scheme) has no \(name)")
            }
            return String(value)
        }
        resource = try field("sr")
        expiry = try field("se")
        keyName = PercentEncoding.decodeForm(try field("skn"))
        // A plus sign of base64 that a client has left as it is has become no blank.
        guard let signature = Data(base64Encoded: PercentEncoding.decode(try field("sig"))) else {
            throw SASRefusal.malformed.error("the signature is not base64")
        }
        self.signature = Array(signature)
        guard expiry.utf8.allSatisfy({ (0x30...0x39).contains($0) }), Int64(expiry) != nil else {
            throw SASRefusal.malformed.error("the expiry is not a whole number of seconds since 1970")
        }
    }

    /// Signs a new one. `resource` is an address such as `sb://host/hub`, not yet encoded.
    package init(minting resource: String, rule: AuthorizationRule, expiration: Timestamp) {
        self.init(minting: resource, keyName: rule.name, key: rule.primaryKey, expiration: expiration)
    }

    /// Signs a new one with the key of a connection string.
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

    /// The value of the header. Whoever reads it has the right until it expires.
    package var header: String {
        let signature = PercentEncoding.encode(Data(signature).base64EncodedString())
        return "\(Self.scheme) sr=\(resource)&sig=\(signature)&se=\(expiry)&skn=\(PercentEncoding.encode(keyName))"
    }

    /// Nil only for a number beyond what a header may hold.
    package var expiration: Timestamp? { Int64(expiry).map { Timestamp(seconds: $0) } }

    private var signedText: [UInt8] { Array("\(resource)\n\(expiry)".utf8) }

    /// Whether the key signed it; takes the same time for every wrong signature.
    package func isSigned(by key: Secret) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signedText, using: Self.symmetric(key))
    }

    /// The key is the text itself, not what its base64 stands for.
    private static func symmetric(_ key: Secret) -> SymmetricKey { SymmetricKey(data: Array(key.reveal().utf8)) }

    private static func code(of text: [UInt8], key: Secret) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: text, using: symmetric(key))
    }
}
