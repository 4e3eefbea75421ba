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

/// A space with two independent kinds of keys: keys with values and keys with slots. Every call except `clear` is atomic.
///
/// Keys are compared and sorted by their bytes. An entry that has expired by `now` is treated as absent, even if it has not been deleted
/// yet.
///
/// Limits are checked first. Errors: `kv.key` (400) for an empty key or one of more than 256 bytes, `kv.ttl` (400) for an expiry less than
/// a second or more than 1,830 days away, `kv.too_many` (400) for more than 1,000 keys in one call, `kv.full` (507) if the space exceeds
/// its quota, and `storage.unavailable` (503). After an error nothing has changed.
package protocol KeyValueStore: Sendable {
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
    /// Keys of values with this prefix, in order: those after `after`, or from the first if nil. Throws `kv.too_many` for a limit outside 1
    /// to 1,000.
    func keys(prefix: String, after: String?, limit: Int, now: Timestamp) async throws(PushError) -> [String]
    /// The storage in use, including expired entries that have not been deleted yet.
    func usage() async throws(PushError) -> KeyValueUsage
    /// Deletes all entries in steps. Entries stored in the meantime may remain.
    func clear() async throws(PushError)
}

package struct KeyValueEntry: Sendable, Equatable {
    package var value: JSON
    /// Changes with every write and only grows within a space. Has no other meaning.
    package var version: Int64
    package var expires: Timestamp?

    package init(value: JSON, version: Int64, expires: Timestamp?) {
        self.value = value
        self.version = version
        self.expires = expires
    }
}

/// A condition for a write.
package enum KeyValueCondition: Sendable, Equatable {
    case always
    /// The key has no entry.
    case absent
    /// The entry has this version.
    case version(Int64)

    /// - Parameter version: of the entry; nil if there is none.
    package func holds(for version: Int64?) -> Bool {
        switch self {
        case .always: true
        case .absent: version == nil
        case .version(let wanted): version == wanted
        }
    }
}

package enum KeyValuePut: Sendable, Equatable {
    case stored(version: Int64)
    /// The condition does not hold. `version` is the entry's; nil if there is none.
    case conflict(version: Int64?)
}

package enum KeyValueRemoval: Sendable, Equatable {
    case removed
    /// There was no entry, and the condition allows that.
    case missing
    /// The condition does not hold. `version` is the entry's; nil if there is none.
    case conflict(version: Int64?)
}

package struct KeyValueUsage: Sendable, Equatable {
    /// Number of values and of keys with slots.
    package var entries: Int
    /// Total size of keys, values as JSON, and slots.
    package var bytes: Int

    package init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// The maximum size of a space.
package struct KeyValueQuota: Sendable {
    package var entries: Int
    package var bytes: Int

    package init(entries: Int, bytes: Int) {
        self.entries = entries
        self.bytes = bytes
    }

    package static let standard = KeyValueQuota(entries: 1_000_000, bytes: 64 << 20)

    /// Whether a change keeps the space within its quota. A change that shrinks it is always allowed.
    package func fits(_ usage: KeyValueUsage, adding new: KeyValueUsage) -> Bool {
        (new.entries <= 0 || usage.entries + new.entries <= entries) && (new.bytes <= 0 || usage.bytes + new.bytes <= bytes)
    }
}
