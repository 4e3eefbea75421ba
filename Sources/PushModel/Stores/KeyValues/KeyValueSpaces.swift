/// The key-value storage of plugins; each plugin has its own space.
///
/// Errors: `storage.unavailable` (503).
package protocol KeyValueSpaces: Sendable {
    /// The space of a plugin, by name. Needs no creation and starts empty.
    func space(_ name: String) -> any KeyValueStore
    /// The names of spaces that are not empty, in byte order.
    func names() async throws(PushError) -> [String]
    /// Deletes at most `limit` entries, of any space, that have expired by `now`. Returns their number.
    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int
}
