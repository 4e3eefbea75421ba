import PushModel
import Testing

@testable import PushRuntime

@Suite struct SystemClockTests {
    @Test func `a sleep never ends early`() async throws {
        let clock = SystemClock()
        let deadline = clock.now + .milliseconds(20)
        try await clock.sleep(until: deadline)
        #expect(clock.now >= deadline)
        try await clock.sleep(until: deadline)
    }

    @Test func `cancelling ends the sleep`() async throws {
        let clock = SystemClock()
        let task = Task { try await clock.sleep(until: .distantFuture) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `random numbers do not repeat`() {
        let random = SystemRandom()
        #expect(Set((0..<100).map { _ in random.next() }).count == 100)
    }
}
