import PushLab
import PushModel

/// Requests of a lab's clients that wait for events. When the server begins to stop, they are answered at once.
final class LabPolls: Sendable {
    private let stop = CountWaiters()

    /// How long a request waits for an event.
    private static let limit: Duration = .seconds(20)

    /// Number of requests that wait.
    var count: Int { stop.waitingCount }

    /// Suspends until the session has more than `count` events or is over, the time limit has passed, or the server begins to stop.
    func wait(for session: LabSession, after count: Int, clock: any HubClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await session.more(than: count) }
            group.addTask { try? await clock.sleep(until: clock.now + Self.limit) }
            group.addTask { [stop] in await stop.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Resumes the waiting requests. Further ones do not wait.
    func end() { stop.end() }
}
