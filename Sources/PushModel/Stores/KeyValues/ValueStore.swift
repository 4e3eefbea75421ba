/// The keys with values of a space. Every call is atomic.
///
/// Keys are compared and sorted by their bytes. An entry that has expired by `now` is treated as absent, even if it has not been deleted
/// yet. Throws the errors of `KeyValueStore`.
package protocol ValueStore: Sendable {
    func value(_ key: String, now: Timestamp) async throws(PushError) -> KeyValueEntry?
    /// The values of several keys at the same time, in their order.
    func values(_ keys: [String], now: Timestamp) async throws(PushError) -> [KeyValueEntry?]
    /// Stores a value and replaces the previous one and its expiry. Throws `kv.too_large` (413) for more than 64 KiB of JSON.
    ///
    /// - Parameter expires: nil for an entry that never expires.
    func put(
        _ value: JSON, for key: String, expires: Timestamp?, if condition: KeyValueCondition, now: Timestamp
    ) async throws(PushError) -> KeyValuePut
    func remove(_ key: String, if condition: KeyValueCondition, now: Timestamp) async throws(PushError) -> KeyValueRemoval
    /// Adds to an integer, which starts at 0, and returns the sum. Throws `kv.not_a_number` (409) if the value is not an integer,
    /// `kv.out_of_range` (409) if the sum exceeds 64 bits.
    ///
    /// - Parameter expiresIfNew: expiry of a new number; an existing one keeps its expiry.
    func add(_ amount: Int64, to key: String, expiresIfNew: Timestamp?, now: Timestamp) async throws(PushError) -> Int64
    /// Keys of values with this prefix, in order: those after `after`, or from the first if nil. Throws `kv.too_many` for a limit outside 1
    /// to 1,000.
    func keys(prefix: String, after: String?, limit: Int, now: Timestamp) async throws(PushError) -> [String]
}
