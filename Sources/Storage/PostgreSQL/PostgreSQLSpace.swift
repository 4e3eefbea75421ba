import PushModel

/// A key-value space within a transaction.
struct PostgreSQLSpace {
    /// The kind of an entry's content. Each has its own keys.
    enum Kind: Int {
        case value, slots
    }

    struct Row {
        let version: Int64
        let expires: Timestamp?
        /// Sealed JSON, or packed rate-limit slots.
        let content: [UInt8]
        /// Size of key and unsealed content, in bytes.
        let size: Int

        func isLive(_ now: Timestamp) -> Bool { expires.map { $0 > now } ?? true }
    }

    struct Change {
        /// The current row of the key, expired or not; nil if there is none.
        let row: Row?
        let key: [UInt8]
        let content: [UInt8]
        var version: Int64 = 0
        let expires: Timestamp?
    }

    /// Identifies an entry within the space.
    private struct Entry {
        let kind: Int64
        let key: [UInt8]
        /// Size of key and unsealed content, in bytes.
        let size: Int

        /// - Parameter row: kind, key and size.
        init(_ row: PostgreSQLRow) {
            (kind, key, size) = (row.integer(0), row.bytes(1), Int(row.integer(2)))
        }
    }

    /// Maximum number of expired entries examined to make space.
    private static let reclaimed = 1000

    /// SQL for the size of key and unsealed content, in bytes.
    private static let size =
        "length(key) + length(content) - CASE WHEN kind = \(Kind.value.rawValue) THEN \(SecretSeal.overhead) ELSE 0 END"

    private let name: String
    /// The name as it is stored.
    private let id: [UInt8]
    private let database: PostgreSQLConnection
    private let seal: SecretSeal
    private(set) var usage = KeyValueUsage()
    private(set) var lastVersion: Int64 = 0

    /// - Parameter isLocked: whether to lock the space until the transaction ends, for a change.
    init(_ name: String, in database: PostgreSQLConnection, _ seal: SecretSeal, isLocked: Bool) throws {
        self.name = name
        id = Array(name.utf8)
        self.database = database
        self.seal = seal
        let row = try database.first(
            "SELECT entries, bytes, last_version FROM key_value_space WHERE name = $1\(isLocked ? " FOR UPDATE" : "")", id
        ) { row in (KeyValueUsage(entries: Int(row.integer(0)), bytes: Int(row.integer(1))), row.integer(2)) }
        if let row { (usage, lastVersion) = row }
    }

    // MARK: - Reading

    /// The rows of keys, expired or not.
    func rows(_ kind: Kind, _ keys: [String]) throws -> [[UInt8]: Row] {
        let found = try database.all(
            "SELECT key, version, expiration, content, \(Self.size) FROM key_value WHERE space = $1 AND kind = $2 AND key = ANY($3)", id,
            kind.rawValue, PostgreSQLArray(Set(keys.map { Array($0.utf8) }))
        ) { row in
            (
                row.bytes(0),
                Row(version: row.integer(1), expires: row.optional(2, row.time), content: row.bytes(3), size: Int(row.integer(4)))
            )
        }
        return Dictionary(found) { $1 }
    }

    func row(_ kind: Kind, _ key: String) throws -> Row? { try rows(kind, [key])[Array(key.utf8)] }

    func entry(_ key: String, _ row: Row?, now: Timestamp) throws -> KeyValueEntry? {
        guard let row, row.isLive(now) else { return nil }
        return try reading(subject(key)) {
            KeyValueEntry(
                value: try JSON(parsing: seal.open(row.content, of: .value(key, space: name))), version: row.version, expires: row.expires)
        }
    }

    func window(_ key: String, _ row: Row?, now: Timestamp) throws -> SlotWindow {
        guard let row, row.isLive(now) else { return SlotWindow() }
        return try reading(subject(key)) {
            guard let window = SlotWindow(packed: row.content) else { throw UnreadableValue(reason: "its slots are truncated") }
            return window
        }
    }

    private func subject(_ key: String) -> String { "the entry \"\(key)\" of the space \"\(name)\"" }

    /// - Parameter lowest: smallest key to return.
    func keys(prefix: [UInt8], from lowest: [UInt8], limit: Int, now: Timestamp) throws -> [String] {
        try database.all(
            """
            SELECT key FROM key_value
            WHERE space = $1 AND kind = \(Kind.value.rawValue) AND key >= $2 AND key < $3 AND (expiration IS NULL OR expiration > $4)
            ORDER BY key LIMIT $5
            """,
            // Greater than every byte in UTF-8.
            id, lowest, prefix + [0xFF], now.milliseconds, limit
        ) { row in
            try reading("a key of the space \"\(name)\"") {
                guard let key = String(validating: row.bytes(0), as: UTF8.self) else { throw UnreadableValue(reason: "it is not UTF-8") }
                return key
            }
        }
    }

    // MARK: - Writing

    /// Stores all changes, or throws `kv.full` before anything is written.
    ///
    /// - Parameter version: the largest version among the changes; 0 if they have none.
    mutating func put(_ changes: [Change], _ kind: Kind, version: Int64, quota: KeyValueQuota, now: Timestamp) throws {
        guard !changes.isEmpty else { return }
        let new = KeyValueUsage(
            entries: changes.count { $0.row == nil },
            bytes: changes.reduce(0) { $0 + $1.key.count + $1.content.count - ($1.row?.size ?? 0) })
        remove(try reclaimable(for: new, besides: changes, kind, quota, now))
        usage.entries += new.entries
        usage.bytes += new.bytes
        lastVersion = max(lastVersion, version)
        save()
        let contents = try changes.map { try kind == .value ? sealed($0) : $0.content }
        try database.run(
            """
            INSERT INTO key_value (space, kind, key, version, expiration, content) SELECT $1, $2, * FROM unnest($3, $4, $5, $6)
            ON CONFLICT (space, kind, key) DO UPDATE SET version = excluded.version, expiration = excluded.expiration,
                content = excluded.content
            """, id, kind.rawValue, PostgreSQLArray(changes.map(\.key)), PostgreSQLArray(changes.map(\.version)),
            PostgreSQLArray(changes.map(\.expires?.milliseconds)), PostgreSQLArray(contents))
    }

    private func sealed(_ change: Change) throws -> [UInt8] {
        try seal.seal(change.content, for: .value(String(decoding: change.key, as: UTF8.self), space: name))
    }

    /// The expired entries to delete so that the changes fit; empty if they fit anyway.
    private func reclaimable(
        for new: KeyValueUsage, besides changes: [Change], _ kind: Kind, _ quota: KeyValueQuota, _ now: Timestamp
    ) throws -> [Entry] {
        if quota.fits(usage, adding: new) { return [] }
        let changed = Set(changes.map(\.key))
        let expired = try expired(now, limit: Self.reclaimed).filter { $0.kind != Int64(kind.rawValue) || !changed.contains($0.key) }
        let left = KeyValueUsage(
            entries: usage.entries - expired.count, bytes: usage.bytes - expired.reduce(0) { $0 + $1.size })
        guard quota.fits(left, adding: new) else { throw KeyValueLimits.full(name, usage, quota) }
        return expired
    }

    private func expired(_ now: Timestamp, limit: Int) throws -> [Entry] {
        try database.all(
            "SELECT kind, key, \(Self.size) FROM key_value WHERE space = $1 AND expiration <= $2 ORDER BY expiration LIMIT $3", id,
            now.milliseconds, limit, read: Entry.init)
    }

    mutating func remove(_ key: String, _ row: Row) {
        database.later(
            "DELETE FROM key_value WHERE space = $1 AND kind = $2 AND key = $3", id, Kind.value.rawValue, Array(key.utf8))
        usage.entries -= 1
        usage.bytes -= row.size
        save()
    }

    /// Returns the number of entries removed.
    mutating func removeExpired(now: Timestamp, limit: Int) throws -> Int {
        let expired = try expired(now, limit: limit)
        remove(expired)
        if !expired.isEmpty { save() }
        return expired.count
    }

    /// Removes arbitrary entries. Returns how many.
    mutating func removeSome(limit: Int) throws -> Int {
        let some = try database.all(
            "SELECT kind, key, \(Self.size) FROM key_value WHERE space = $1 LIMIT $2", id, limit, read: Entry.init)
        remove(some)
        if !some.isEmpty { save() }
        return some.count
    }

    private mutating func remove(_ entries: [Entry]) {
        if entries.isEmpty { return }
        database.later(
            """
            DELETE FROM key_value USING unnest($2, $3) AS removed (kind, key)
            WHERE space = $1 AND key_value.kind = removed.kind AND key_value.key = removed.key
            """, id, PostgreSQLArray(entries.map(\.kind)), PostgreSQLArray(entries.map(\.key)))
        usage.entries -= entries.count
        usage.bytes -= entries.reduce(0) { $0 + $1.size }
    }

    /// Stores the row of the space itself.
    private func save() {
        database.later(
            """
            INSERT INTO key_value_space (name, entries, bytes, last_version) VALUES ($1, $2, $3, $4)
            ON CONFLICT (name) DO UPDATE SET entries = excluded.entries, bytes = excluded.bytes, last_version = excluded.last_version
            """, id, usage.entries, usage.bytes, lastVersion)
    }
}
