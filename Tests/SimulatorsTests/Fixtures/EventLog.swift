import Simulators
import Synchronization

/// Records the events that a lab reports to its observer.
final class EventLog: Sendable {
    private let events = Mutex<[PhoneEvent]>([])

    func add(_ event: PhoneEvent) { events.withLock { $0.append(event) } }

    var kinds: [PhoneEvent.Kind] { events.withLock { $0.map(\.kind) } }
}
