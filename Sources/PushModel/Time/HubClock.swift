/// The clock of the hub. The core never reads the system clock directly.
package protocol HubClock: Sendable {
    var now: Timestamp { get }

    /// Suspends until `deadline`. Throws `CancellationError` as soon as the task is cancelled.
    func sleep(until deadline: Timestamp) async throws
    /// A monotonic clock for measuring intervals. Its times have no meaning in another process.
    var steady: any HubClock { get }
}

extension HubClock {
    /// The same clock, for clocks that are never set.
    package var steady: any HubClock { self }
}
