/// The keys with slots of a space. Throws the errors of `KeyValueStore`.
package protocol SlotStore: Sendable {
    /// Takes a slot of each key that has a free one. Returns, for each key in order, whether a slot was granted.
    ///
    /// A key has `limit` slots; each becomes free again once the period has passed. Within the period, the same token gets the same result
    /// from the same key without taking another slot, so that a call with an unknown result can be repeated. The last hundred refusals of a
    /// key are recorded. Use one period per key.
    ///
    /// Throws `kv.slots` (400) for a limit outside 1 to 1,000, `kv.ttl` for a period that is not a valid lifetime, and `kv.key` for a token
    /// that is not a valid key.
    func take(
        _ keys: [String], token: String, limit: Int, within period: Duration, now: Timestamp
    ) async throws(PushError) -> [Bool]
}
