import Simulators
import Synchronization

/// Keeps what a lab's observer was told.
final class EventLog: Sendable {
    private let events = Mutex<[PhoneEvent]>([])

    func add(_ event: PhoneEvent) { events.withLock { $0.append(event) } }

    var kinds: [PhoneEvent.Kind] { events.withLock { $0.map(\.kind) } }
}
