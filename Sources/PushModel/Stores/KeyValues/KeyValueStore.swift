/// A space with two independent kinds of keys: keys with values and keys with slots. Every call except `clear` is atomic.
///
/// Keys are compared and sorted by their bytes. An entry that has expired by `now` is treated as absent, even if it has not been deleted
/// yet.
///
/// Limits are checked first. Errors: `kv.key` (400) for an empty key or one of more than 256 bytes, `kv.ttl` (400) for an expiry less than
/// a second or more than 1,830 days away, `kv.too_many` (400) for more than 1,000 keys in one call, `kv.full` (507) if the space exceeds
/// its quota, and `storage.unavailable` (503). After an error nothing has changed.
package protocol KeyValueStore: ValueStore, SlotStore {
    /// The storage in use, including expired entries that have not been deleted yet.
    func usage() async throws(PushError) -> KeyValueUsage
    /// Deletes all entries in steps. Entries stored in the meantime may remain.
    func clear() async throws(PushError)
}
