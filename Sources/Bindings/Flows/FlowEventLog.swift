import Synchronization

/// Collects the events of a run in order.
package final class FlowEventLog: Sendable {
    private let events = Mutex<[FlowEvent]>([])

    package init() {}

    package var all: [FlowEvent] { events.withLock { $0 } }

    package func append(_ event: FlowEvent) { events.withLock { $0.append(event) } }
}
