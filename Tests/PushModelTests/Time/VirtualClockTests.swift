import PushModel
import Support
import Testing

@Suite struct VirtualClockTests {
    private let clock = VirtualClock(now: HubBench.startTime)

    private func later(_ seconds: Int64) -> Timestamp { HubBench.startTime + .seconds(seconds) }

    /// Starts a task and returns once it sleeps.
    private func sleeper(
        until deadline: Timestamp, then note: @escaping @Sendable () -> Void
    ) async throws -> Task<Void, any Error> {
        let before = clock.sleepingTaskCount
        let clock = clock
        let task = Task {
            try await clock.sleep(until: deadline)
            note()
        }
        try await until { clock.sleepingTaskCount != before }
        return task
    }

    @Test("Tasks wake in the order of their deadlines, and of their calls if these are equal")
    @MainActor func order() async throws {
        let clock = clock
        var woken: [String] = []
        var tasks: [Task<Void, any Error>] = []
        for (name, seconds) in [("c", 30), ("a1", 10), ("b", 20), ("a2", 10), ("a3", 10)] as [(String, Int64)] {
            let deadline = later(seconds)
            let before = clock.sleepingTaskCount
            tasks.append(
                Task { @MainActor in
                    try await clock.sleep(until: deadline)
                    woken.append("\(name) \(Int((clock.now - HubBench.startTime).components.seconds))")
                })
            try await until { clock.sleepingTaskCount != before }
        }
        for waiting in [[1, 3, 4], [2], [0]] {
            #expect(clock.advanceToNextDeadline())
            for number in waiting { try await tasks[number].value }
        }
        #expect(woken == ["a1 10", "a2 10", "a3 10", "b 20", "c 30"])
        #expect(!clock.advanceToNextDeadline())
        #expect(!clock.hasSleepingTasks)
    }

    @Test("No task wakes before its deadline") func notEarly() async throws {
        let task = try await sleeper(until: later(10)) {}
        clock.advance(to: Timestamp(milliseconds: later(10).milliseconds - 1))
        #expect(clock.hasSleepingTasks)
        clock.advance(to: later(10))
        try await task.value
    }

    @Test("Time never decreases") func neverBack() {
        clock.advance(to: later(5))
        clock.advance(to: later(1))
        #expect(clock.now == later(5))
    }

    @Test("A call with a deadline in the past returns at once") func past() async throws {
        try await clock.sleep(until: HubBench.startTime)
        try await clock.sleep(until: later(-1))
        #expect(clock.now == HubBench.startTime)
    }

    @Test("A task cancelled before it sleeps does not sleep") func cancelledBefore() async {
        let clock = clock
        let deadline = later(10)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(until: deadline)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!clock.hasSleepingTasks)
    }

    @Test("A task cancelled while it sleeps wakes at once, and time does not advance") func cancelledWhile() async throws {
        let task = try await sleeper(until: later(10)) {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!clock.hasSleepingTasks)
        #expect(!clock.advanceToNextDeadline())
        #expect(clock.now == HubBench.startTime)
    }

    @Test("Cancelling after the deadline has no effect") func cancelledAfter() async throws {
        let task = try await sleeper(until: later(10)) {}
        clock.advance(to: later(10))
        try await task.value
        task.cancel()
        let next = try await sleeper(until: later(20)) {}
        #expect(clock.advanceToNextDeadline())
        try await next.value
    }

    @Test("A cancelled task does not delay the next one") func skipsCancelled() async throws {
        let first = try await sleeper(until: later(10)) {}
        let second = try await sleeper(until: later(20)) {}
        first.cancel()
        _ = await first.result
        #expect(clock.advanceToNextDeadline())
        #expect(clock.now == later(20))
        try await second.value
    }

    @Test("Thousands of tasks can sleep") func many() async throws {
        let clock = clock
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                let deadline = later(Int64(number % 97 + 1))
                group.addTask { try await clock.sleep(until: deadline) }
            }
            try await until { clock.sleepingTaskCount >= 2000 }
            while clock.advanceToNextDeadline() {}
            try await group.waitForAll()
        }
        #expect(clock.now == later(97))
    }
}
