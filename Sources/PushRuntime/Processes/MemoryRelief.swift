import CMalloc
package import PushModel
import Synchronization

/// Returns unused memory to the operating system after a peak; the allocator keeps it otherwise.
package final class MemoryRelief: Sendable {
    private let clock: any HubClock
    private let isPlanned = Mutex(false)

    /// Tasks that hold the memory free it shortly after they report it.
    private static let delay = Duration.seconds(1)

    package init(clock: any HubClock) { self.clock = clock }

    /// Schedules a trim and returns at once. Calls within the delay are combined.
    package func plan() {
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
