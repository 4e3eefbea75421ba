import CMalloc
import PushCore
import Synchronization

/// Gives memory that a peak has left unused back to the system: the library keeps it for the process otherwise, for as long as that runs.
final class MemoryRelief: Sendable {
    private let clock: any HubClock
    private let isPlanned = Mutex(false)

    /// What was released is freed a little later, by the tasks that had it.
    private static let delay = Duration.seconds(1)

    init(clock: any HubClock) { self.clock = clock }

    /// Returns at once; several calls within the delay are one.
    func plan() {
        let isNew = isPlanned.withLock { isPlanned in
            defer { isPlanned = true }
            return !isPlanned
        }
        guard isNew else { return }
        Task.detached { [self] in
            try? await clock.sleep(until: clock.now + Self.delay)
            isPlanned.withLock { $0 = false }
            try? await blocking { () throws(PushError) in _ = malloc_trim(0) }
        }
    }
}
