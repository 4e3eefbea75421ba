import Crypto
import FoundationEssentials
import HubWire
import PushModel

/// A signed address for reading a hub's feedback until it expires. It needs no other token.
struct FeedbackLink {
    static let lifetime = Duration.seconds(86_400)

    /// Makes the query `se=…&sig=…`, signed with the primary key of a rule.
    static func query(hub: String, rule: AuthorizationRule, expiration: Timestamp) -> String {
        let expiry = String(expiration.seconds)
        let code = HMAC<SHA256>.authenticationCode(for: signedText(hub, expiry), using: symmetric(rule.primaryKey))
        return "se=\(expiry)&sig=\(PercentEncoding.encode(Data(code).base64EncodedString()))"
    }

    /// Throws `feedback.forbidden` (403) unless the query was signed by a rule that may manage the hub and has not expired.
    static func verify(_ query: RequestQuery, hub: String, rules: [AuthorizationRule], now: Timestamp) throws(PushError) {
        let hint = "request feedbackcontainer again"
        // A plus sign in base64 that was decoded by the client has become a space.
        guard let expiry = query["se"], let seconds = Int64(expiry), let text = query["sig"],
            let signature = Data(base64Encoded: text.replacing(" ", with: "+"))
        else { throw refusal("the feedback address is not signed", hint) }
        let signed = signedText(hub, expiry)
        let isSigned = rules.contains { rule in
            rule.rights.contains(.manage)
                && [rule.primaryKey, rule.secondaryKey].contains { key in
                    HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: symmetric(key))
                }
        }
        guard isSigned else { throw refusal("the signature of the feedback address is invalid", hint) }
        guard now <= Timestamp(seconds: seconds) else {
            throw refusal("the feedback address has expired", hint)
        }
    }

    private static func signedText(_ hub: String, _ expiry: String) -> [UInt8] { Array("feedback\n\(hub.lowercased())\n\(expiry)".utf8) }

    private static func symmetric(_ key: Secret) -> SymmetricKey { SymmetricKey(data: Array(key.reveal().utf8)) }

    private static func refusal(_ why: String, _ hint: String) -> PushError {
        PushError("feedback.forbidden", why, hint: hint, status: 403)
    }
}
