import PushModel
import Synchronization

/// The state of a hub: open or stopping. Readable from any task.
final class HubLifecycle: Sendable {
    private let isClosed = Atomic(false)

    /// Whether the hub starts nothing more. It never becomes false again.
    var isStopping: Bool { isClosed.load(ordering: .acquiring) }

    func stop() { isClosed.store(true, ordering: .releasing) }

    /// Throws `hub.stopped` (503) once the hub is shutting down.
    func checkIsOpen() throws(PushError) {
        guard isStopping else { return }
        throw PushError(
            "hub.stopped", "the hub is shutting down or being deleted",
            hint: "try again later", status: 503, isRetryable: true)
    }
}
