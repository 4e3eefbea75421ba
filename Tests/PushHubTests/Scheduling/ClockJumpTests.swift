import Storage
import Support
import Synchronization
import Testing

@testable import PushHub
@testable import PushModel

/// A clock that can be set while time passes.
private final class SetClock: HubClock {
    let base = VirtualClock(now: HubBench.startTime)
    private let offset = Mutex(Duration.zero)

    var now: Timestamp { base.now + offset.withLock { $0 } }
    var steady: any HubClock { base }

    func set(by difference: Duration) { offset.withLock { $0 += difference } }

    func sleep(until deadline: Timestamp) async throws { try await base.sleep(until: base.now + (deadline - now)) }
}

private final class Done: Sendable {
    let value = Mutex(false)
}

@Suite struct ClockJumpTests {
    private static let day = Duration.seconds(86_400)

    private func hub(_ clock: SetClock, _ connector: ScriptedConnector) -> NotificationHub {
        NotificationHub(
            environment: HubEnvironment(
                clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } }),
            connectors: [connector], store: MemoryHubStore())
    }

    private static func request(_ handle: DeviceHandle) -> NotificationRequest {
        NotificationRequest(
            audience: .device(handle), content: .native([.apns: NativePayload(body: Array(#"{"aps":{"alert":"Hello"}}"#.utf8))]))
    }

    /// Advances the clock until the work is done.
    private func passing<Result: Sendable>(
        _ clock: VirtualClock, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let isDone = Done()
        let watch = Task {
            _ = await task.result
            isDone.value.withLock { $0 = true }
        }
        while !isDone.value.withLock({ $0 }) {
            if !clock.advanceToNextDeadline() { await Task.yield() }
        }
        await watch.value
        return try await task.value
    }

    @Test(arguments: [1, -1]) func `setting the clock does not change retry delays`(sign: Int) async throws {
        let clock = SetClock()
        let connector = ScriptedConnector(clock: clock.base)
        let hub = hub(clock, connector)
        let handle = DeviceHandle.apns(token: String(repeating: "A", count: 64))
        connector.script(handle, .transient(.busy, retryAfter: nil), .transient(.busy, retryAfter: nil), .accepted(id: "1"))
        connector.during { _ in clock.set(by: Self.day * sign) }
        let outcome = try await passing(clock.base) { try await hub.send(Self.request(handle)) }
        #expect(outcome.state == .completed && outcome.sent == 1)
        #expect(connector.deliveries.map { ($0.time - HubBench.startTime).components.seconds } == [0, 1, 3])
        #expect(outcome.endedAt == clock.now)
    }

    @Test func `a notification expires when the clock shows its expiration, even if it was set`() async throws {
        let clock = SetClock()
        let connector = ScriptedConnector(clock: clock.base)
        let hub = hub(clock, connector)
        let handle = DeviceHandle.apns(token: String(repeating: "A", count: 64))
        connector.script(handle, .transient(.busy, retryAfter: nil))
        connector.during { _ in clock.set(by: Self.day) }
        var request = Self.request(handle)
        request.options.expiration = clock.now + .seconds(3_600)
        let outcome = try await passing(clock.base) { [request] in try await hub.send(request) }
        #expect(outcome.sent == 0 && connector.deliveries.count == 1)
    }
}
