import GRDB
import PushModel

/// A key-value space within a transaction.
struct SQLiteSpace {
    /// The kind of an entry's content. Each has its own keys.
    enum Kind: Int {
        case value, slots
    }

    struct Row {
        let id: Int64
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

    /// Maximum number of expired entries examined to make space.
    private static let reclaimed = 1000

    /// SQL for the size of key and unsealed content, in bytes.
    static let size = "length(key) + length(content) - iif(kind = \(Kind.value.rawValue), \(SecretSeal.overhead), 0)"

    private let name: String
    private let database: Database
    private let seal: SecretSeal
    /// Nil if the space has no row yet.
    private var number: Int64?
    private(set) var usage = KeyValueUsage()
    private(set) var lastVersion: Int64 = 0

    init(_ name: String, in database: Database, _ seal: SecretSeal) throws {
        self.name = name
        self.database = database
        self.seal = seal
        let row = try database.first("SELECT number, entries, bytes, last_version FROM key_value_space WHERE name = ?", name) { row in
            (row.integer(0), KeyValueUsage(entries: Int(row.integer(1)), bytes: Int(row.integer(2))), row.integer(3))
        }
        if let row { (number, usage, lastVersion) = row }
    }

    // MARK: - Reading

    func row(_ kind: Kind, _ key: String) throws -> Row? {
        guard let number else { return nil }
        return try database.first(
            "SELECT id, version, expiration, content, \(Self.size) FROM key_value WHERE space = ? AND kind = ? AND key = ?", number,
            kind.rawValue, Array(key.utf8)
        ) { row in
            Row(
                id: row.integer(0), version: row.integer(1), expires: row.optional(2, row.time), content: row.bytes(3),
                size: Int(row.integer(4)))
        }
    }

    func entry(_ key: String, now: Timestamp) throws -> KeyValueEntry? {
        guard let row = try row(.value, key), row.isLive(now) else { return nil }
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
        guard let number else { return [] }
        return try database.all(
            """
            SELECT key FROM key_value
            WHERE space = ? AND kind = \(Kind.value.rawValue) AND key >= ? AND key < ? AND (expiration IS NULL OR expiration > ?)
            ORDER BY key LIMIT ?
            """,
            // Greater than every byte in UTF-8.
            number, lowest, prefix + [0xFF], now.milliseconds, limit
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
        try remove(try reclaimable(for: new, besides: changes, quota, now))
        usage.entries += new.entries
        usage.bytes += new.bytes
        lastVersion = max(lastVersion, version)
        let number = try save()
        for change in changes {
            let content = try kind == .value ? sealed(change) : change.content
            if let row = change.row {
                try database.run(
                    "UPDATE key_value SET version = ?, expiration = ?, content = ? WHERE id = ?", change.version,
                    change.expires?.milliseconds, content, row.id)
            } else {
                try database.run(
                    "INSERT INTO key_value (space, kind, key, version, expiration, content) VALUES (?, ?, ?, ?, ?, ?)", number,
                    kind.rawValue, change.key, change.version, change.expires?.milliseconds, content)
            }
        }
    }

    private func sealed(_ change: Change) throws -> [UInt8] {
        try seal.seal(change.content, for: .value(String(decoding: change.key, as: UTF8.self), space: name))
    }

    /// The expired entries to delete so that the changes fit; empty if they fit anyway.
    private func reclaimable(
        for new: KeyValueUsage, besides changes: [Change], _ quota: KeyValueQuota, _ now: Timestamp
    ) throws -> [(id: Int64, size: Int)] {
        if quota.fits(usage, adding: new) { return [] }
        let changed = Set(changes.compactMap(\.row?.id))
        let expired = try expired(now, limit: Self.reclaimed).filter { !changed.contains($0.id) }
        let left = KeyValueUsage(
            entries: usage.entries - expired.count, bytes: usage.bytes - expired.reduce(0) { $0 + $1.size })
        guard quota.fits(left, adding: new) else { throw KeyValueLimits.full(name, usage, quota) }
        return expired
    }

    private func expired(_ now: Timestamp, limit: Int) throws -> [(id: Int64, size: Int)] {
        try database.all(
            """
            SELECT id, \(Self.size) FROM key_value WHERE space = ? AND expiration <= ?
            ORDER BY expiration LIMIT ?
            """, number, now.milliseconds, limit
        ) { ($0.integer(0), Int($0.integer(1))) }
    }

    mutating func remove(_ row: Row) throws {
        try remove([(row.id, row.size)])
        try save()
    }

    /// Returns the number of entries removed.
    mutating func removeExpired(now: Timestamp, limit: Int) throws -> Int {
        let expired = try expired(now, limit: limit)
        if expired.isEmpty { return 0 }
        try remove(expired)
        try save()
        return expired.count
    }

    /// Removes arbitrary entries. Returns how many.
    mutating func removeSome(limit: Int) throws -> Int {
        let some = try database.all(
            "SELECT id, \(Self.size) FROM key_value WHERE space = ? LIMIT ?", number, limit
        ) { (id: $0.integer(0), size: Int($0.integer(1))) }
        if some.isEmpty { return 0 }
        try remove(some)
        try save()
        return some.count
    }

    private mutating func remove(_ rows: [(id: Int64, size: Int)]) throws {
        for row in rows {
            try database.run("DELETE FROM key_value WHERE id = ?", row.id)
            usage.entries -= 1
            usage.bytes -= row.size
        }
    }

    /// Stores the row of the space itself. Returns its number.
    @discardableResult
    private mutating func save() throws -> Int64 {
        if let number {
            try database.run(
                "UPDATE key_value_space SET entries = ?, bytes = ?, last_version = ? WHERE number = ?", usage.entries, usage.bytes,
                lastVersion, number)
            return number
        }
        try database.run(
            "INSERT INTO key_value_space (name, entries, bytes, last_version) VALUES (?, ?, ?, ?)", name, usage.entries, usage.bytes,
            lastVersion)
        number = database.lastInsertedRowID
        return database.lastInsertedRowID
    }
}
