/// The time of the hub. Nothing in the core reads the machine's clock.
package protocol HubClock: Sendable {
    var now: Timestamp { get }

    /// Suspends until `deadline`. Throws `CancellationError` as soon as the task is cancelled.
    func sleep(until deadline: Timestamp) async throws
}
