package import PushModel

/// Warns about credentials that have expired or expire within 30 days.
package enum CredentialExpiry {
    /// What to do about it.
    package static let renewal = "renew it in Apple's developer account, and set the new one"
    private static let soon: Duration = .seconds(30 * 86_400)

    /// Describes an expiry date that is past or near; nil if it is far off.
    package static func finding(expiring end: Timestamp, now: Timestamp) -> String? {
        guard end > now else { return "expired on \(end.iso8601(fraction: false))" }
        return end - now < soon ? "expires on \(end.iso8601(fraction: false))" : nil
    }
}
