import Support
import Testing

@testable import PushLab

/// Tasks that wait for a count to grow.
@Suite(.timeLimit(.minutes(5))) struct CountWaitersTests {
    @Test func `a task waits until the count is higher than its own`() async throws {
        let waiters = CountWaiters()
        async let first: Void = waiters.wait(beyond: 1)
        async let second: Void = waiters.wait(beyond: 2)
        try await until { waiters.waitingCount == 2 }
        waiters.advance(to: 1)
        #expect(waiters.waitingCount == 2)
        waiters.advance(to: 2)
        await first
        #expect(waiters.waitingCount == 1)
        // A count that was noted late changes nothing.
        waiters.advance(to: 1)
        await waiters.wait(beyond: 1)
        waiters.advance(to: 3)
        await second
    }

    @Test func `the end resumes all tasks, and further ones do not wait`() async throws {
        let waiters = CountWaiters()
        async let waiting: Void = waiters.wait()
        try await until { waiters.waitingCount == 1 }
        waiters.end()
        await waiting
        await waiters.wait(beyond: 9)
        #expect(waiters.waitingCount == 0)
    }

    @Test func `a cancelled task stops waiting`() async throws {
        let waiters = CountWaiters()
        let task = Task { await waiters.wait() }
        try await until { waiters.waitingCount == 1 }
        task.cancel()
        await task.value
        #expect(waiters.waitingCount == 0)
    }
}
