import PushCore
import RemoteHub
import Synchronization

/// What the hubs of a lab did and what crossed its wires, in order: the last 10,000 entries.
final class LabTrace: Sendable {
    private struct State {
        var entries: [LabTraceEntry] = []
        /// How many there were before the first of them.
        var forgotten = 0
    }

    private static let capacity = 10_000
    private let state = Mutex(State())

    /// How many there have been.
    var count: Int { state.withLock { $0.forgotten + $0.entries.count } }

    @Sendable func note(_ event: CoreEvent) { append(.core(event)) }

    @Sendable func note(_ exchange: WireExchange) { append(.crossed(exchange)) }

    private func append(_ entry: LabTraceEntry) {
        state.withLock { state in
            state.entries.append(entry)
            guard state.entries.count >= 2 * Self.capacity else { return }
            state.entries.removeFirst(Self.capacity)
            state.forgotten += Self.capacity
        }
    }

    /// Those behind the first `count` that are kept, and how many there have been.
    func entries(after count: Int) -> (entries: [LabTraceEntry], count: Int) {
        state.withLock { state in
            let all = state.forgotten + state.entries.count
            return (state.entries.suffix(min(max(0, all - count), Self.capacity)), all)
        }
    }
}
