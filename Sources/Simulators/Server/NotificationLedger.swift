import Synchronization

/// What became of every notification request, in the order of the answers. The newest are kept; all go to whoever writes
/// them down.
final class NotificationLedger: Sendable {
    private let sink: LedgerSink?
    private let state = Mutex(State())

    private struct State {
        /// Oldest first; those before `oldest` are forgotten.
        var entries: [Entry?] = []
        var oldest = 0
        /// Of the entries that are kept.
        var bytes = 0
        /// Of all entries that there ever were.
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

    /// How many bytes of entries are kept.
    private static let capacity = 32 << 20

    init(sink: LedgerSink?) {
        self.sink = sink
    }

    /// Whether somebody writes the lines down, which takes its time.
    var isWrittenDown: Bool { sink != nil }

    /// Returns once the line has been written.
    ///
    /// - Parameter time: Milliseconds since 1970.
    func record(
        _ summary: NotificationSummary, service: PhonePlatform, status: Int, payload: [UInt8], time: Int64
    ) async {
        await withCheckedContinuation { continuation in
            record(summary, service: service, status: status, payload: payload, time: time) { continuation.resume() }
        }
    }

    /// Calls back once the line has been written; at once where nobody writes them down.
    func record(
        _ summary: NotificationSummary, service: PhonePlatform, status: Int, payload: [UInt8], time: Int64,
        isWritten: @escaping @Sendable () -> Void
    ) {
        let isAwaited = state.withLock { state in
            state.count += 1
            let entry = Entry(
                number: state.count, time: time, service: service, status: status, summary: summary, payload: payload)
            state.keep(entry)
            // Within the lock, so that the lines are written in the order of their numbers.
            sink?(entry.line, isWritten)
            return sink != nil
        }
        if !isAwaited { isWritten() }
    }

    /// JSON lines: those after number `number`, or the oldest that are still kept, at most `limit`.
    func lines(after number: Int, limit: Int) -> [UInt8] {
        let entries = state.withLock { state in
            let kept = state.entries[state.oldest...]
            let forgotten = state.count - kept.count
            return kept.dropFirst(max(0, number - forgotten)).prefix(limit).compactMap { $0 }
        }
        return Array(entries.map(\.line).joined())
    }
}

/// What became of one notification request.
private struct Entry: Sendable {
    var number: Int
    var time: Int64
    var service: PhonePlatform
    var status: Int
    var summary: NotificationSummary
    var payload: [UInt8]

    /// About as many bytes as it takes in memory.
    var size: Int { payload.count + (summary.handle?.utf8.count ?? 0) + 256 }

    /// With its end.
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

/// Takes a line with its end, and calls back once it has been written. It must return at once; lines come in order.
package typealias LedgerSink = @Sendable (_ line: [UInt8], _ isWritten: @escaping @Sendable () -> Void) -> Void

extension JSONValue {
    /// A string, or null for nil.
    init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
}
