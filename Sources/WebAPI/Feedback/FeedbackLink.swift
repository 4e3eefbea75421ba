import Crypto
import FoundationEssentials
import HubWire
import PushCore

/// The right to read a hub's feedback until a moment, as the query of an address: whoever has the address needs no other token.
struct FeedbackLink {
    static let lifetime = Duration.seconds(86_400)

    /// `se=…&sig=…`, signed with the primary key of a rule.
    static func query(hub: String, rule: AuthorizationRule, expiration: Timestamp) -> String {
        let expiry = String(expiration.seconds)
        let code = HMAC<SHA256>.authenticationCode(for: signedText(hub, expiry), using: symmetric(rule.primaryKey))
        return "se=\(expiry)&sig=\(PercentEncoding.encode(Data(code).base64EncodedString()))"
    }

    /// Throws `feedback.forbidden` (403) unless a key of one of the rules that may manage the hub has signed the query, and the
    /// moment has not passed.
    static func verify(_ query: RequestQuery, hub: String, rules: [AuthorizationRule], now: Timestamp) throws(PushError) {
        let hint = "ask for feedbackcontainer again"
        // A plus sign of base64 that a client has decoded has become a blank.
        guard let expiry = query["se"], let seconds = Int64(expiry), let text = query["sig"],
            let signature = Data(base64Encoded: text.replacing(" ", with: "+"))
        else { throw refusal("the address of the feedback is not signed", hint) }
        let signed = signedText(hub, expiry)
        let isSigned = rules.contains { rule in
            rule.rights.contains(.manage)
                && [rule.primaryKey, rule.secondaryKey].contains { key in
                    HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: symmetric(key))
                }
        }
        guard isSigned else { throw refusal("the address of the feedback has another signature than the hub gave it", hint) }
        guard now <= Timestamp(seconds: seconds) else {
            throw refusal("the address of the feedback was valid until a moment that has passed", hint)
        }
    }

    private static func signedText(_ hub: String, _ expiry: String) -> [UInt8] { Array("feedback\n\(hub.lowercased())\n\(expiry)".utf8) }

    private static func symmetric(_ key: Secret) -> SymmetricKey { SymmetricKey(data: Array(key.reveal().utf8)) }

    private static func refusal(_ why: String, _ hint: String) -> PushError {
        PushError("feedback.forbidden", why, hint: hint, status: 403)
    }
}
