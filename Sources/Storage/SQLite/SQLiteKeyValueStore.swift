import GRDB
import PushModel

/// Key-value spaces in a database.
struct SQLiteKeyValueSpaces: KeyValueSpaces {
    let database: SQLiteDatabase
    var quota = KeyValueQuota.standard

    func space(_ name: String) -> any KeyValueStore { SQLiteKeyValueStore(database: database, space: name, quota: quota) }

    func names() async throws(PushError) -> [String] { try await database.read { try Self.names(in: $0) } }

    private static func names(in database: Database) throws -> [String] {
        try database.all("SELECT name FROM key_value_space WHERE entries > 0 ORDER BY name") { $0.text(0) }
    }

    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { [seal = database.seal] database in
            var removed = 0
            for name in try Self.names(in: database) where removed < limit {
                var space = try SQLiteSpace(name, in: database, seal)
                removed += try space.removeExpired(now: now, limit: limit - removed)
            }
            return removed
        }
    }
}

/// A key-value space in a database.
struct SQLiteKeyValueStore: KeyValueStore {
    /// Number of entries deleted per transaction, so that other changes need not wait long.
    private static let entriesClearedPerTransaction = 200
    /// Approximate number of bytes written per rate-limit answer.
    private static let slotSize = 100

    let database: SQLiteDatabase
    let space: String
    let quota: KeyValueQuota

    // MARK: - Values

    func value(_ key: String, now: Timestamp) async throws(PushError) -> KeyValueEntry? {
        try KeyValueLimits.check(key: key)
        return try await database.read { [space, seal = database.seal] in try SQLiteSpace(space, in: $0, seal).entry(key, now: now) }
    }

    func values(_ keys: [String], now: Timestamp) async throws(PushError) -> [KeyValueEntry?] {
        try KeyValueLimits.check(keys: keys)
        return try await database.read { [space, seal = database.seal] database in
            let space = try SQLiteSpace(space, in: database, seal)
            return try keys.map { try space.entry($0, now: now) }
        }
    }

    func put(
        _ value: JSON, for key: String, expires: Timestamp?, if condition: KeyValueCondition, now: Timestamp
    ) async throws(PushError) -> KeyValuePut {
        try KeyValueLimits.check(key: key)
        try KeyValueLimits.check(expires: expires, now: now)
        let content = try KeyValueLimits.content(of: value, for: key)
        return try await database.write(size: content.count) { [self, seal = database.seal] database in
            var space = try SQLiteSpace(space, in: database, seal)
            let row = try space.row(.value, key)
            let present = row.flatMap { $0.isLive(now) ? $0.version : nil }
            guard condition.holds(for: present) else { return .conflict(version: present) }
            return .stored(version: try keep(content, for: key, over: row, expires: expires, now: now, in: &space))
        }
    }

    /// - Returns: the version.
    private func keep(
        _ content: [UInt8], for key: String, over row: SQLiteSpace.Row?, expires: Timestamp?, now: Timestamp, in space: inout SQLiteSpace
    ) throws -> Int64 {
        let version = KeyValueLimits.version(after: space.lastVersion, now: now)
        let change = SQLiteSpace.Change(row: row, key: Array(key.utf8), content: content, version: version, expires: expires)
        try space.put([change], .value, version: version, quota: quota, now: now)
        return version
    }

    func remove(_ key: String, if condition: KeyValueCondition, now: Timestamp) async throws(PushError) -> KeyValueRemoval {
        try KeyValueLimits.check(key: key)
        return try await database.write { [space, seal = database.seal] database in
            var space = try SQLiteSpace(space, in: database, seal)
            let row = try space.row(.value, key).flatMap { $0.isLive(now) ? $0 : nil }
            guard condition.holds(for: row?.version) else { return .conflict(version: row?.version) }
            guard let row else { return .missing }
            try space.remove(row)
            return .removed
        }
    }

    func add(_ amount: Int64, to key: String, expiresIfNew: Timestamp?, now: Timestamp) async throws(PushError) -> Int64 {
        try KeyValueLimits.check(key: key)
        try KeyValueLimits.check(expires: expiresIfNew, now: now)
        return try await database.write { [self, seal = database.seal] database in
            var space = try SQLiteSpace(space, in: database, seal)
            let entry = try space.entry(key, now: now)
            let sum = try KeyValueLimits.sum(entry?.value ?? 0, amount, for: key)
            _ = try keep(
                JSON.integer(sum).serialized(), for: key, over: try space.row(.value, key),
                expires: entry.map(\.expires) ?? expiresIfNew, now: now, in: &space)
            return sum
        }
    }

    func keys(prefix: String, after: String?, limit: Int, now: Timestamp) async throws(PushError) -> [String] {
        try KeyValueLimits.check(page: limit)
        let prefix = Array(prefix.utf8)
        // The successor of a key is the same key with a zero byte appended.
        let next: [UInt8] = after.map { Array($0.utf8) + [0] } ?? []
        let lowest = prefix.lexicographicallyPrecedes(next) ? next : prefix
        return try await database.read { [space, seal = database.seal] database in
            try SQLiteSpace(space, in: database, seal).keys(prefix: prefix, from: lowest, limit: limit, now: now)
        }
    }

    // MARK: - Slots

    func take(
        _ keys: [String], token: String, limit: Int, within period: Duration, now: Timestamp
    ) async throws(PushError) -> [Bool] {
        try KeyValueLimits.check(keys: keys)
        try KeyValueLimits.check(token: token, limit: limit, period: period)
        let token = SlotWindow.Token(token)
        return try await database.write(size: keys.count * Self.slotSize) { [self, seal = database.seal] database in
            var space = try SQLiteSpace(space, in: database, seal)
            var answers: [[UInt8]: Bool] = [:]
            var changes: [SQLiteSpace.Change] = []
            let result = try keys.map { key in
                let bytes = Array(key.utf8)
                // A repeated key gets the same answer.
                if let answer = answers[bytes] { return answer }
                let row = try space.row(.slots, key)
                var window = try space.window(key, row, now: now)
                var answer = window.answer(to: token, within: period, now: now)
                if answer == nil {
                    answer = window.decide(token, limit: limit, within: period, now: now)
                    changes.append(SQLiteSpace.Change(row: row, key: bytes, content: window.packed, expires: now + period))
                }
                answers[bytes] = answer
                return answer ?? false
            }
            try space.put(changes, .slots, version: 0, quota: quota, now: now)
            return result
        }
    }

    // MARK: - Usage

    func usage() async throws(PushError) -> KeyValueUsage {
        try await database.read { [space, seal = database.seal] in try SQLiteSpace(space, in: $0, seal).usage }
    }

    func clear() async throws(PushError) {
        var removed = 0
        repeat {
            removed = try await database.write { [space, seal = database.seal] database in
                var space = try SQLiteSpace(space, in: database, seal)
                return try space.removeSome(limit: Self.entriesClearedPerTransaction)
            }
        } while removed == Self.entriesClearedPerTransaction
    }
}
