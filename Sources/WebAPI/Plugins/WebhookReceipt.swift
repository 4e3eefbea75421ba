import PushCore

/// Whether a webhook has come already. It is kept, so that no restart lets one in twice.
struct WebhookReceipt: Sendable {
    let space: any KeyValueStore
    /// What the message is known by.
    let key: String
    let now: Timestamp

    /// Throws `webhook.replayed` (409) where it has come before. Answers what it can be given back with.
    func take(until end: Timestamp) async throws(PushError) -> Int64 {
        switch try await space.put(.string(now.description), for: key, expires: end, if: .absent, now: now) {
        case .stored(let version): return version
        case .conflict:
            throw PushError(
                "webhook.replayed", "this webhook has come before, and was taken", hint: "nothing is to be done; do not send it again",
                status: 409)
        }
    }

    /// It may come once more.
    func giveBack(_ version: Int64) async throws(PushError) {
        _ = try await space.remove(key, if: .version(version), now: now)
    }
}
