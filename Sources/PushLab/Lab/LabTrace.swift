package import PushModel
package import RemoteHub
import Synchronization

/// The last 10,000 events of a lab's hubs and exchanges on its wires, in order.
package final class LabTrace: Sendable {
    private struct State {
        var entries: [LabTraceEntry] = []
        /// Number of older entries that were dropped.
        var forgotten = 0
    }

    private static let capacity = 10_000
    private let state = Mutex(State())

    /// Number of entries so far, including dropped ones.
    var count: Int { state.withLock { $0.forgotten + $0.entries.count } }

    @Sendable package func note(_ event: CoreEvent) { append(.core(event)) }

    @Sendable func note(_ exchange: WireExchange) { append(.crossed(exchange)) }

    private func append(_ entry: LabTraceEntry) {
        state.withLock { state in
            state.entries.append(entry)
            guard state.entries.count >= 2 * Self.capacity else { return }
            state.entries.removeFirst(Self.capacity)
            state.forgotten += Self.capacity
        }
    }

    /// The stored entries after the first `count`, and the number of entries so far.
    package func entries(after count: Int) -> (entries: [LabTraceEntry], count: Int) {
        state.withLock { state in
            let all = state.forgotten + state.entries.count
            return (state.entries.suffix(min(max(0, all - count), Self.capacity)), all)
        }
    }
}
