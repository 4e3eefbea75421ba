/// Where plugins keep what they have to remember: each in a space of its own.
///
/// Errors: `storage.unavailable` (503).
package protocol KeyValueSpaces: Sendable {
    /// The space of a plugin by its name. It need not be made, and is empty at first.
    func space(_ name: String) -> any KeyValueStore
    /// The names of the spaces with something in them, in the order of their bytes.
    func names() async throws(PushError) -> [String]
    /// Removes entries of any space that have expired by `now`, at most `limit`; answers how many.
    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int
}

/// A space: keys with values, and keys with slots, which have nothing to do with each other. Every call is one step, `clear` excepted.
///
/// Keys are told apart, and put in order, by their bytes. What has expired by `now` is not there, whether it has been removed or not.
///
/// Limits are checked before any work starts. Errors: `kv.key` (400) for a key that is empty or has more than 256 bytes, `kv.ttl` (400)
/// for an expiry that is less than a second or more than 1,830 days away, `kv.too_many` (400) for more than 1,000 keys at once,
/// `kv.full` (507) where a space has no room for what is new, and `storage.unavailable` (503). After an error nothing has changed.
package protocol KeyValueStore: Sendable {
    func value(_ key: String, now: Timestamp) async throws(PushError) -> KeyValueEntry?
    /// Of many keys at one moment, in their order.
    func values(_ keys: [String], now: Timestamp) async throws(PushError) -> [KeyValueEntry?]
    /// Keeps a value, which takes the place of the one before with its expiry. Throws `kv.too_large` (413) for more than 64 KiB of JSON.
    ///
    /// - Parameter expires: nil for one that stays.
    func put(
        _ value: JSON, for key: String, expires: Timestamp?, if condition: KeyValueCondition, now: Timestamp
    ) async throws(PushError) -> KeyValuePut
    func remove(_ key: String, if condition: KeyValueCondition, now: Timestamp) async throws(PushError) -> KeyValueRemoval
    /// Adds to a whole number, which begins as 0; answers the new one. Throws `kv.not_a_number` (409) where the value is something else,
    /// `kv.out_of_range` (409) for a sum beyond 64 bits.
    ///
    /// - Parameter expiresIfNew: when the number expires that begins; one that is there keeps its expiry.
    func add(_ amount: Int64, to key: String, expiresIfNew: Timestamp?, now: Timestamp) async throws(PushError) -> Int64
    /// Takes a slot of each key that has one left; answers for each key whether it was granted, in their order.
    ///
    /// A key has `limit` slots, and each is free again when the period has passed since it was taken. The same token, asked of the same
    /// key within the period, gets the same answer and takes nothing: whoever does not know whether a call was done repeats it.
    /// Of refusals the last hundred of a key are remembered. A key has one period; for another one there are other keys.
    ///
    /// Throws `kv.slots` (400) for a limit that is not from 1 to 1,000, `kv.ttl` for a period that no expiry could have, and `kv.key` for
    /// a token that could be no key.
    func take(
        _ keys: [String], token: String, limit: Int, within period: Duration, now: Timestamp
    ) async throws(PushError) -> [Bool]
    /// The keys of values that begin with `prefix`, in order, those behind `after`, or from the first on for nil. Throws `kv.too_many`
    /// for a limit that is not from 1 to 1,000.
    func keys(prefix: String, after: String?, limit: Int, now: Timestamp) async throws(PushError) -> [String]
    /// What takes up room, also what has expired and is not removed yet.
    func usage() async throws(PushError) -> KeyValueUsage
    /// Removes everything, a part at a time. What is put meanwhile may stay.
    func clear() async throws(PushError)
}

package struct KeyValueEntry: Sendable, Equatable {
    package var value: JSON
    /// Another one after every change, and larger than any that the space had before; it says nothing else.
    package var version: Int64
    package var expires: Timestamp?

    package init(value: JSON, version: Int64, expires: Timestamp?) {
        self.value = value
        self.version = version
        self.expires = expires
    }
}

/// What has to be so that a change is made.
package enum KeyValueCondition: Sendable, Equatable {
    case always
    /// There is no entry.
    case absent
    /// There is one, of this version.
    case version(Int64)

    /// - Parameter version: of the entry; nil where there is none.
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
    /// The condition does not hold. The entry has this version; nil where there is none.
    case conflict(version: Int64?)
}

package enum KeyValueRemoval: Sendable, Equatable {
    case removed
    /// There was none, and the condition allows that.
    case missing
    /// The condition does not hold. The entry has this version; nil where there is none.
    case conflict(version: Int64?)
}

package struct KeyValueUsage: Sendable, Equatable {
    /// Values, and keys with slots.
    package var entries: Int
    /// Of keys, values as JSON, and slots.
    package var bytes: Int

    package init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// How much a space holds.
package struct KeyValueQuota: Sendable {
    package var entries: Int
    package var bytes: Int

    package init(entries: Int, bytes: Int) {
        self.entries = entries
        self.bytes = bytes
    }

    package static let standard = KeyValueQuota(entries: 1_000_000, bytes: 64 << 20)

    /// Whether a space still fits when so much has been added to it. What makes it smaller always does.
    package func fits(_ usage: KeyValueUsage, adding new: KeyValueUsage) -> Bool {
        (new.entries <= 0 || usage.entries + new.entries <= entries) && (new.bytes <= 0 || usage.bytes + new.bytes <= bytes)
    }
}
