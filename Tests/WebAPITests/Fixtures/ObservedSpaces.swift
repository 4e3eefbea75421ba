import PushModel
import Storage

/// Key-value spaces that report removals.
struct ObservedSpaces: KeyValueSpaces {
    private let base = MemoryKeyValueSpaces()
    private let removals = AsyncStream.makeStream(of: Void.self)

    /// Waits for the next removal.
    func removed() async {
        var iterator = removals.stream.makeAsyncIterator()
        await iterator.next()
    }

    func space(_ name: String) -> any KeyValueStore { Space(base: base.space(name), removals: removals.continuation) }
    func names() async -> [String] { await base.names() }
    func removeExpired(now: Timestamp, limit: Int) async -> Int { await base.removeExpired(now: now, limit: limit) }

    private struct Space: KeyValueStore {
        let base: any KeyValueStore
        let removals: AsyncStream<Void>.Continuation

        func value(_ key: String, now: Timestamp) async throws(PushError) -> KeyValueEntry? { try await base.value(key, now: now) }
        func values(_ keys: [String], now: Timestamp) async throws(PushError) -> [KeyValueEntry?] {
            try await base.values(keys, now: now)
        }
        func put(
            _ value: JSON, for key: String, expires: Timestamp?, if condition: KeyValueCondition, now: Timestamp
        ) async throws(PushError) -> KeyValuePut {
            try await base.put(value, for: key, expires: expires, if: condition, now: now)
        }
        func remove(_ key: String, if condition: KeyValueCondition, now: Timestamp) async throws(PushError) -> KeyValueRemoval {
            let removal = try await base.remove(key, if: condition, now: now)
            removals.yield()
            return removal
        }
        func add(
            _ amount: Int64, to key: String, expiresIfNew: Timestamp?, now: Timestamp
        ) async throws(PushError) -> Int64 {
            try await base.add(amount, to: key, expiresIfNew: expiresIfNew, now: now)
        }
        func take(
            _ keys: [String], token: String, limit: Int, within period: Duration, now: Timestamp
        ) async throws(PushError) -> [Bool] {
            try await base.take(keys, token: token, limit: limit, within: period, now: now)
        }
        func keys(prefix: String, after: String?, limit: Int, now: Timestamp) async throws(PushError) -> [String] {
            try await base.keys(prefix: prefix, after: after, limit: limit, now: now)
        }
        func usage() async throws(PushError) -> KeyValueUsage { try await base.usage() }
        func clear() async throws(PushError) { try await base.clear() }
    }
}
