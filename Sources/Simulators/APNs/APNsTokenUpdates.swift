/// The provider tokens that a team has used recently.
///
/// Apple, "Establishing a token-based connection to APNs": refresh no more than once every 20 minutes. The exact limit is not documented.
/// Here a few different tokens are accepted, for senders that start at the same time.
struct APNsTokenUpdates: Sendable {
    private var firstSeen: [String: Int64] = [:]

    /// Records a token at its first use. Returns `false` if the team has used too many different ones within 20 minutes.
    ///
    /// - Parameter now: Milliseconds since 1970.
    mutating func admit(_ token: String, now: Int64, limit: Int) -> Bool {
        if firstSeen[token] != nil { return true }
        firstSeen = firstSeen.filter { $0.value > now - 2 * APNsProviderToken.lifetime * 1000 }
        guard firstSeen.values.count(where: { $0 > now - 20 * 60_000 }) < limit else { return false }
        firstSeen[token] = now
        return true
    }
}
