import PushModel
import Synchronization

/// Senders that run until they are stopped, each with one notification after the other.
final class Senders: Sendable {
    private let store: any HubStore
    private let request: NotificationRequest
    private let clock: MachineClock
    private let isStopped = Atomic(false)
    private let sequence: Atomic<Int64>

    /// - Parameter number: the first notification number, unused in the hub so far.
    init(store: any HubStore, behind number: Int64, request: NotificationRequest, clock: MachineClock) {
        sequence = Atomic(number)
        self.store = store
        self.request = request
        self.clock = clock
    }

    func stop() { isStopped.store(true, ordering: .releasing) }

    /// Accepted notifications per second, and the longest time of one of them in seconds.
    func run(_ count: Int) async throws -> (rate: Double, worst: Double) {
        let start = ContinuousClock.now
        let ends = try await withThrowingTaskGroup(of: (Int, Duration).self) { group in
            for _ in 0..<count { group.addTask { try await self.send() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let total = ends.reduce(0) { $0 + $1.0 }
        return (Double(total) / ((ContinuousClock.now - start) / .seconds(1)), (ends.map(\.1).max() ?? .zero) / .seconds(1))
    }

    private func send() async throws -> (Int, Duration) {
        var (sent, worst) = (0, Duration.zero)
        while !isStopped.load(ordering: .acquiring) {
            let number = sequence.wrappingAdd(1, ordering: .relaxed).newValue
            let outcome = NotificationOutcome(
                id: "\(String(number, radix: 16))-20260105090000-\(number)-1", state: .enqueued, tags: Load.tags,
                times: NotificationTimes(enqueuedAt: clock.now))
            let time = try await ContinuousClock().measure {
                _ = try await store.accept(StoredNotification(sequence: number, request: request, outcome: outcome))
            }
            (sent, worst) = (sent + 1, max(worst, time))
        }
        return (sent, worst)
    }
}
