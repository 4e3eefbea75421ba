import Synchronization

/// What became of every notification request, in the order of the answers. The newest are kept; all go to whoever writes
/// them down.
final class NotificationLedger: Sendable {
    private let sink: LedgerSink?
    private let state = Mutex(State())

    private struct State {
        /// Oldest first, with their ends; those before `oldest` are forgotten.
        var lines: [[UInt8]] = []
        var oldest = 0
        /// Of the lines that are kept.
        var bytes = 0
        /// Of all lines that there ever were.
        var count = 0

        mutating func keep(_ line: [UInt8]) {
            lines.append(line)
            bytes += line.count
            while bytes > NotificationLedger.capacity, oldest < lines.count - 1 {
                bytes -= lines[oldest].count
                lines[oldest] = []
                oldest += 1
            }
            if oldest > lines.count / 2 {
                lines.removeFirst(oldest)
                oldest = 0
            }
        }
    }

    /// How many bytes of lines are kept.
    private static let capacity = 32 << 20

    init(sink: LedgerSink?) {
        self.sink = sink
    }

    /// Returns once the line has been written.
    ///
    /// - Parameter time: Milliseconds since 1970.
    func record(
        _ summary: NotificationSummary, service: PhonePlatform, status: Int, payload: [UInt8], time: Int64
    ) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.count += 1
                let line = Self.line(
                    summary, number: state.count, service: service, status: status, payload: payload, time: time)
                state.keep(line)
                // Within the lock, so that the lines are written in the order of their numbers.
                guard let sink else { return continuation.resume() }
                sink(line) { continuation.resume() }
            }
        }
    }

    /// JSON lines: those after number `number`, or the oldest that are still kept, at most `limit`.
    func lines(after number: Int, limit: Int) -> [UInt8] {
        state.withLock { state in
            let kept = state.lines[state.oldest...]
            let forgotten = state.count - kept.count
            return Array(kept.dropFirst(max(0, number - forgotten)).prefix(limit).joined())
        }
    }

    /// With its end.
    private static func line(
        _ summary: NotificationSummary, number: Int, service: PhonePlatform, status: Int, payload: [UInt8], time: Int64
    ) -> [UInt8] {
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
