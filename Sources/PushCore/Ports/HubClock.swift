/// The time of the hub. Nothing in the core reads the machine's clock.
package protocol HubClock: Sendable {
    var now: Timestamp { get }

    /// Suspends until `deadline`. Throws `CancellationError` as soon as the task is cancelled.
    func sleep(until deadline: Timestamp) async throws
    /// The same time, except that nobody sets it: what pauses are measured with. Its moments mean nothing to another process.
    var steady: any HubClock { get }
}

extension HubClock {
    /// For clocks that nobody sets.
    package var steady: any HubClock { self }
}
