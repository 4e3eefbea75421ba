import Crypto
import HubWire
import PushModel

/// An access key sent as `Authorization: Bearer KEY`, for clients that cannot sign.
struct BearerKey {
    private let digest: SHA256Digest

    /// Nil if the header has another scheme.
    init?(authorization: String?) {
        let parts = (authorization ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        digest = SHA256.hash(data: Array(String(parts[1]).trimmed.utf8))
    }

    /// Returns the first rule that has the key. Compares all keys in constant time, so that the time reveals nothing about them.
    ///
    /// Throws `sas.signature` (401).
    func rule(among rules: [AuthorizationRule]) throws(PushError) -> AuthorizationRule {
        var found: AuthorizationRule?
        for rule in rules {
            let matches = [rule.primaryKey, rule.secondaryKey].filter { isEqual(to: $0) }
            if found == nil, !matches.isEmpty { found = rule }
        }
        guard let found else {
            var error = SASError.signature.error("the bearer key is not a key of the hub or of the server")
            error.hint = "send the primary or secondary key that pushhost key list --reveal shows"
            throw error
        }
        return found
    }

    private func isEqual(to key: Secret) -> Bool { !key.isEmpty && SHA256.hash(data: Array(key.reveal().utf8)) == digest }
}
