package import PushModel
import Synchronization

/// Key-value spaces in memory.
package final class MemoryKeyValueSpaces: KeyValueSpaces {
    private let quota: KeyValueQuota
    /// Stores by the UTF-8 bytes of their names.
    private let stores = Mutex<[[UInt8]: MemoryKeyValueStore]>([:])

    package init(quota: KeyValueQuota = .standard) { self.quota = quota }

    package func space(_ name: String) -> any KeyValueStore {
        stores.withLock { stores in
            let key = Array(name.utf8)
            if let store = stores[key] { return store }
            let store = MemoryKeyValueStore(space: name, quota: quota)
            stores[key] = store
            return store
        }
    }

    private var sorted: [MemoryKeyValueStore] {
        stores.withLock { $0.sorted { $0.key.lexicographicallyPrecedes($1.key) } }.map(\.value)
    }

    package func names() async -> [String] {
        var names: [String] = []
        for store in sorted where await store.usage().entries > 0 { names.append(store.space) }
        return names
    }

    package func removeExpired(now: Timestamp, limit: Int) async -> Int {
        var removed = 0
        for store in sorted where removed < limit { removed += await store.removeExpired(now: now, limit: limit - removed) }
        return removed
    }
}

/// A key-value space in memory.
actor MemoryKeyValueStore: KeyValueStore {
    private enum Content {
        /// Serialized JSON.
        case value([UInt8], version: Int64)
        case slots(SlotWindow)

        var size: Int {
            switch self {
            case .value(let bytes, _): bytes.count
            case .slots(let window): window.packed.count
            }
        }
    }

    private struct Key: Hashable {
        let isSlots: Bool
        let bytes: [UInt8]

        static func value(_ key: String) -> Key { Key(isSlots: false, bytes: Array(key.utf8)) }
        static func slots(_ key: String) -> Key { Key(isSlots: true, bytes: Array(key.utf8)) }
    }

    private struct Entry {
        var content: Content
        var expires: Timestamp?

        func isLive(_ now: Timestamp) -> Bool { expires.map { $0 > now } ?? true }
    }

    nonisolated let space: String
    private let quota: KeyValueQuota
    private var entries: [Key: Entry] = [:]
    private var used = KeyValueUsage()
    private var lastVersion: Int64 = 0

    init(space: String, quota: KeyValueQuota) {
        self.space = space
        self.quota = quota
    }

    // MARK: - Values

    func value(_ key: String, now: Timestamp) throws(PushError) -> KeyValueEntry? {
        try KeyValueLimits.check(key: key)
        return try entry(key, now: now)
    }

    func values(_ keys: [String], now: Timestamp) throws(PushError) -> [KeyValueEntry?] {
        try KeyValueLimits.check(keys: keys)
        return try keys.map { key throws(PushError) in try entry(key, now: now) }
    }

    private func entry(_ key: String, now: Timestamp) throws(PushError) -> KeyValueEntry? {
        guard let entry = entries[.value(key)], entry.isLive(now), case .value(let bytes, let version) = entry.content else { return nil }
        do throws(JSONError) {
            return KeyValueEntry(value: try JSON(parsing: bytes), version: version, expires: entry.expires)
        } catch {
            throw StorageError.corrupt("the value of \"\(key)\"", error.description.asClause)
        }
    }

    private func version(of key: String, now: Timestamp) -> Int64? {
        guard let entry = entries[.value(key)], entry.isLive(now), case .value(_, let version) = entry.content else { return nil }
        return version
    }

    func put(
        _ value: JSON, for key: String, expires: Timestamp?, if condition: KeyValueCondition, now: Timestamp
    ) throws(PushError) -> KeyValuePut {
        try KeyValueLimits.check(key: key)
        try KeyValueLimits.check(expires: expires, now: now)
        let content = try KeyValueLimits.content(of: value, for: key)
        let present = version(of: key, now: now)
        guard condition.holds(for: present) else { return .conflict(version: present) }
        return .stored(version: try keep(content, for: key, expires: expires, now: now))
    }

    func remove(_ key: String, if condition: KeyValueCondition, now: Timestamp) throws(PushError) -> KeyValueRemoval {
        try KeyValueLimits.check(key: key)
        let present = version(of: key, now: now)
        guard condition.holds(for: present) else { return .conflict(version: present) }
        guard present != nil else { return .missing }
        forget(.value(key))
        return .removed
    }

    func add(_ amount: Int64, to key: String, expiresIfNew: Timestamp?, now: Timestamp) throws(PushError) -> Int64 {
        try KeyValueLimits.check(key: key)
        try KeyValueLimits.check(expires: expiresIfNew, now: now)
        let entry = try entry(key, now: now)
        let sum = try KeyValueLimits.sum(entry?.value ?? 0, amount, for: key)
        let content = JSON.integer(sum).serialized()
        _ = try keep(content, for: key, expires: entry.map(\.expires) ?? expiresIfNew, now: now)
        return sum
    }

    /// - Returns: the version.
    private func keep(_ content: [UInt8], for key: String, expires: Timestamp?, now: Timestamp) throws(PushError) -> Int64 {
        let version = KeyValueLimits.version(after: lastVersion, now: now)
        try set([.value(key): Entry(content: .value(content, version: version), expires: expires)], now: now)
        lastVersion = version
        return version
    }

    func keys(prefix: String, after: String?, limit: Int, now: Timestamp) throws(PushError) -> [String] {
        try KeyValueLimits.check(page: limit)
        let (prefix, after) = (Array(prefix.utf8), after.map { Array($0.utf8) })
        let found = entries.filter { key, entry in
            !key.isSlots && key.bytes.starts(with: prefix) && (after?.lexicographicallyPrecedes(key.bytes) ?? true) && entry.isLive(now)
        }
        return found.keys.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }.prefix(limit).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Slots

    func take(
        _ keys: [String], token: String, limit: Int, within period: Duration, now: Timestamp
    ) throws(PushError) -> [Bool] {
        try KeyValueLimits.check(keys: keys)
        try KeyValueLimits.check(token: token, limit: limit, period: period)
        let token = SlotWindow.Token(token)
        var changes: [Key: Entry] = [:]
        let answers = keys.map { text in
            let key = Key.slots(text)
            var window = SlotWindow()
            if let entry = changes[key] ?? entries[key], entry.isLive(now), case .slots(let stored) = entry.content { window = stored }
            if let answer = window.answer(to: token, within: period, now: now) { return answer }
            let answer = window.decide(token, limit: limit, within: period, now: now)
            changes[key] = Entry(content: .slots(window), expires: now + period)
            return answer
        }
        try set(changes, now: now)
        return answers
    }

    // MARK: - Usage

    func usage() -> KeyValueUsage { used }

    func clear() {
        entries = [:]
        used = KeyValueUsage()
    }

    func removeExpired(now: Timestamp, limit: Int) -> Int {
        let expired = entries.filter { !$0.value.isLive(now) }.keys.prefix(limit)
        for key in expired { forget(key) }
        return expired.count
    }

    /// Stores all changes, or none if they exceed the quota.
    private func set(_ changes: [Key: Entry], now: Timestamp) throws(PushError) {
        var new = KeyValueUsage()
        for (key, entry) in changes {
            new.entries += entries[key] == nil ? 1 : 0
            new.bytes += entry.content.size + (entries[key].map { -$0.content.size } ?? key.bytes.count)
        }
        if !quota.fits(used, adding: new) {
            // Expired entries may be removed. Entries about to change are included in `new`.
            let expired = entries.filter { !$0.value.isLive(now) && changes[$0.key] == nil }
            let left = KeyValueUsage(
                entries: used.entries - expired.count,
                bytes: used.bytes - expired.reduce(0) { $0 + $1.key.bytes.count + $1.value.content.size })
            guard quota.fits(left, adding: new) else { throw KeyValueLimits.full(space, used, quota) }
            for key in expired.keys { forget(key) }
        }
        entries.merge(changes) { $1 }
        used.entries += new.entries
        used.bytes += new.bytes
    }

    private func forget(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        used.entries -= 1
        used.bytes -= key.bytes.count + entry.content.size
    }
}
