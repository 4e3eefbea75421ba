import PushModel

/// Key-value spaces in a database.
struct PostgreSQLKeyValueSpaces: KeyValueSpaces {
    let database: PostgreSQLDatabase
    var quota = KeyValueQuota.standard

    func space(_ name: String) -> any KeyValueStore { PostgreSQLKeyValueStore(database: database, space: name, quota: quota) }

    func names() async throws(PushError) -> [String] { try await database.read { try Self.names(in: $0) } }

    private static func names(in database: PostgreSQLConnection) throws -> [String] {
        try database.all("SELECT name FROM key_value_space WHERE entries > 0 ORDER BY name") {
            String(decoding: $0.bytes(0), as: UTF8.self)
        }
    }

    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { [seal = database.seal] database in
            var removed = 0
            for name in try Self.names(in: database) where removed < limit {
                var space = try PostgreSQLSpace(name, in: database, seal, isLocked: true)
                removed += try space.removeExpired(now: now, limit: limit - removed)
            }
            return removed
        }
    }
}

/// A key-value space in a database.
struct PostgreSQLKeyValueStore: KeyValueStore {
    /// Number of entries deleted per transaction, so that other changes need not wait long.
    private static let entriesClearedPerTransaction = 200
    /// Approximate number of bytes written per rate-limit answer.
    private static let slotSize = 100

    let database: PostgreSQLDatabase
    let space: String
    let quota: KeyValueQuota

    /// Changes the space, which is locked until the transaction ends.
    private func change<Value: Sendable>(
        size: Int = 0, _ body: @escaping @Sendable (inout PostgreSQLSpace) throws -> Value
    ) async throws(PushError) -> Value {
        try await database.write(size: size) { [space, seal = database.seal] database in
            var space = try PostgreSQLSpace(space, in: database, seal, isLocked: true)
            return try body(&space)
        }
    }

    /// Reads one consistent state of the space.
    private func read<Value: Sendable>(_ body: @escaping @Sendable (PostgreSQLSpace) throws -> Value) async throws(PushError) -> Value {
        try await database.snapshot { [space, seal = database.seal] database in
            try body(try PostgreSQLSpace(space, in: database, seal, isLocked: false))
        }
    }

    // MARK: - Values

    func value(_ key: String, now: Timestamp) async throws(PushError) -> KeyValueEntry? {
        try KeyValueLimits.check(key: key)
        return try await read { space in try space.entry(key, try space.row(.value, key), now: now) }
    }

    func values(_ keys: [String], now: Timestamp) async throws(PushError) -> [KeyValueEntry?] {
        try KeyValueLimits.check(keys: keys)
        return try await read { space in
            let rows = try space.rows(.value, keys)
            return try keys.map { try space.entry($0, rows[Array($0.utf8)], now: now) }
        }
    }

    func put(
        _ value: JSON, for key: String, expires: Timestamp?, if condition: KeyValueCondition, now: Timestamp
    ) async throws(PushError) -> KeyValuePut {
        try KeyValueLimits.check(key: key)
        try KeyValueLimits.check(expires: expires, now: now)
        let content = try KeyValueLimits.content(of: value, for: key)
        return try await change(size: content.count) { [self] space in
            let row = try space.row(.value, key)
            let present = row.flatMap { $0.isLive(now) ? $0.version : nil }
            guard condition.holds(for: present) else { return .conflict(version: present) }
            return .stored(version: try keep(content, for: key, over: row, expires: expires, now: now, in: &space))
        }
    }

    /// - Returns: the version.
    private func keep(
        _ content: [UInt8], for key: String, over row: PostgreSQLSpace.Row?, expires: Timestamp?, now: Timestamp,
        in space: inout PostgreSQLSpace
    ) throws -> Int64 {
        let version = KeyValueLimits.version(after: space.lastVersion, now: now)
        let change = PostgreSQLSpace.Change(row: row, key: Array(key.utf8), content: content, version: version, expires: expires)
        try space.put([change], .value, version: version, quota: quota, now: now)
        return version
    }

    func remove(_ key: String, if condition: KeyValueCondition, now: Timestamp) async throws(PushError) -> KeyValueRemoval {
        try KeyValueLimits.check(key: key)
        return try await change { space in
            let row = try space.row(.value, key).flatMap { $0.isLive(now) ? $0 : nil }
            guard condition.holds(for: row?.version) else { return .conflict(version: row?.version) }
            guard let row else { return .missing }
            space.remove(key, row)
            return .removed
        }
    }

    func add(_ amount: Int64, to key: String, expiresIfNew: Timestamp?, now: Timestamp) async throws(PushError) -> Int64 {
        try KeyValueLimits.check(key: key)
        try KeyValueLimits.check(expires: expiresIfNew, now: now)
        return try await change { [self] space in
            let row = try space.row(.value, key)
            let entry = try space.entry(key, row, now: now)
            let sum = try KeyValueLimits.sum(entry?.value ?? 0, amount, for: key)
            _ = try keep(
                JSON.integer(sum).serialized(), for: key, over: row, expires: entry.map(\.expires) ?? expiresIfNew, now: now, in: &space)
            return sum
        }
    }

    func keys(prefix: String, after: String?, limit: Int, now: Timestamp) async throws(PushError) -> [String] {
        try KeyValueLimits.check(page: limit)
        let prefix = Array(prefix.utf8)
        // The successor of a key is the same key with a zero byte appended.
        let next: [UInt8] = after.map { Array($0.utf8) + [0] } ?? []
        let lowest = prefix.lexicographicallyPrecedes(next) ? next : prefix
        return try await read { try $0.keys(prefix: prefix, from: lowest, limit: limit, now: now) }
    }

    // MARK: - Slots

    func take(
        _ keys: [String], token: String, limit: Int, within period: Duration, now: Timestamp
    ) async throws(PushError) -> [Bool] {
        try KeyValueLimits.check(keys: keys)
        try KeyValueLimits.check(token: token, limit: limit, period: period)
        let token = SlotWindow.Token(token)
        return try await change(size: keys.count * Self.slotSize) { [self] space in
            let rows = try space.rows(.slots, keys)
            var answers: [[UInt8]: Bool] = [:]
            var changes: [PostgreSQLSpace.Change] = []
            let result = try keys.map { key in
                let bytes = Array(key.utf8)
                // A repeated key gets the same answer.
                if let answer = answers[bytes] { return answer }
                var window = try space.window(key, rows[bytes], now: now)
                var answer = window.answer(to: token, within: period, now: now)
                if answer == nil {
                    answer = window.decide(token, limit: limit, within: period, now: now)
                    changes.append(PostgreSQLSpace.Change(row: rows[bytes], key: bytes, content: window.packed, expires: now + period))
                }
                answers[bytes] = answer
                return answer ?? false
            }
            try space.put(changes, .slots, version: 0, quota: quota, now: now)
            return result
        }
    }

    // MARK: - Usage

    func usage() async throws(PushError) -> KeyValueUsage { try await read(\.usage) }

    func clear() async throws(PushError) {
        var removed = 0
        repeat {
            removed = try await change { try $0.removeSome(limit: Self.entriesClearedPerTransaction) }
        } while removed == Self.entriesClearedPerTransaction
    }
}
