import Synchronization

/// Records every notification request with its result, in the order of the responses. Keeps the newest entries in memory; the sink receives
/// all of them.
final class NotificationLedger: Sendable {
    private let sink: LedgerSink?
    private let state = Mutex(State())

    private struct State {
        /// Oldest first; entries before `oldest` have been dropped.
        var entries: [Entry?] = []
        var oldest = 0
        /// Size of the stored entries.
        var bytes = 0
        /// Number of all entries ever recorded.
        var count = 0

        mutating func keep(_ entry: Entry) {
            entries.append(entry)
            bytes += entry.size
            while bytes > NotificationLedger.capacity, oldest < entries.count - 1 {
                bytes -= entries[oldest]?.size ?? 0
                entries[oldest] = nil
                oldest += 1
            }
            if oldest > entries.count / 2 {
                entries.removeFirst(oldest)
                oldest = 0
            }
        }
    }

    /// Maximum size of the stored entries, in bytes.
    private static let capacity = 32 << 20

    init(sink: LedgerSink?) {
        self.sink = sink
    }

    /// Whether lines go to a sink, which takes time.
    var isWrittenDown: Bool { sink != nil }

    /// Records an entry and returns once its line has been written.
    ///
    /// - Parameter time: Milliseconds since 1970.
    func record(
        _ summary: NotificationSummary, service: PhonePlatform, status: Int, payload: [UInt8], time: Int64
    ) async {
        await withCheckedContinuation { continuation in
            record(summary, service: service, status: status, payload: payload, time: time) { continuation.resume() }
        }
    }

    /// Records an entry and calls back once its line has been written; immediately without a sink.
    func record(
        _ summary: NotificationSummary, service: PhonePlatform, status: Int, payload: [UInt8], time: Int64,
        isWritten: @escaping @Sendable () -> Void
    ) {
        let isAwaited = state.withLock { state in
            state.count += 1
            let entry = Entry(
                number: state.count, time: time, service: service, status: status, summary: summary, payload: payload)
            state.keep(entry)
            // Called under the lock, so that the lines are written in the order of their numbers.
            sink?(entry.line, isWritten)
            return sink != nil
        }
        if !isAwaited { isWritten() }
    }

    /// Entries after `number` as JSON lines, at most `limit`; starts with the oldest stored entry if earlier ones were dropped.
    func lines(after number: Int, limit: Int) -> [UInt8] {
        let entries = state.withLock { state in
            let stored = state.entries[state.oldest...]
            let forgotten = state.count - stored.count
            return stored.dropFirst(max(0, number - forgotten)).prefix(limit).compactMap { $0 }
        }
        return Array(entries.map(\.line).joined())
    }
}

/// One notification request with its result.
private struct Entry: Sendable {
    var number: Int
    var time: Int64
    var service: PhonePlatform
    var status: Int
    var summary: NotificationSummary
    var payload: [UInt8]

    /// Approximate size in memory, in bytes.
    var size: Int { payload.count + (summary.handle?.utf8.count ?? 0) + 256 }

    /// The entry as a JSON line, with the line end.
    var line: [UInt8] {
        let content =
            String(validating: payload, as: UTF8.self).map { JSONValue.Member(name: "payload", value: .string($0)) }
            ?? JSONValue.Member(name: "payload_base64url", value: .string(Base64URL.text(payload)))
        return JSONValue.object([
            .init(name: "number", value: .number(String(number))), .init(name: "time", value: .number(String(time))),
            .init(name: "service", value: .string(service.rawValue)), .init(name: "handle", value: .init(summary.handle)),
            .init(name: "status", value: .number(String(status))), .init(name: "reason", value: .init(summary.reason)),
            .init(name: "push_id", value: .init(summary.push)), content,
        ]).bytes + [0x0a]
    }
}

/// Receives a line with its line end, and calls back once it has been written. It must return immediately; lines arrive in order.
package typealias LedgerSink = @Sendable (_ line: [UInt8], _ isWritten: @escaping @Sendable () -> Void) -> Void

extension JSONValue {
    /// A string, or null for `nil`.
    init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
}
