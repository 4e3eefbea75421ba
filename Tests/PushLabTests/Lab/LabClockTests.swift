import PushModel
import Support
import Synchronization
import Testing

@testable import PushLab

/// The lab's clock on top of a system clock that the test sets.
@Suite struct LabClockTests {
    private let system = VirtualClock(now: EmbeddedWorld.startTime)

    private func later(_ seconds: Int64) -> Timestamp { EmbeddedWorld.startTime + .seconds(seconds) }

    /// Starts a task that sleeps, and returns once it sleeps.
    private func sleeper(
        on clock: LabClock, until deadline: Timestamp, then note: @escaping @Sendable () -> Void = {}
    ) async throws -> Task<Void, any Error> {
        let before = clock.sleepingTaskCount
        let task = Task {
            try await clock.sleep(until: deadline)
            note()
        }
        try await until { clock.sleepingTaskCount != before }
        return task
    }

    /// Advances the system's time as soon as a task waits for it.
    private func tick(to time: Timestamp) async throws {
        try await until { (system.nextDeadline ?? .distantFuture) <= time }
        system.advance(to: time)
    }

    @Test func `a stored lead that leaves little time to skip is reset to zero`() {
        let year: Int64 = 366 * 86_400
        #expect(LabClock(system: system, lead: .seconds(5900 * year)).lead == .seconds(5900 * year))
        #expect(!LabClock(system: system, lead: .milliseconds(1)).wasReset)
        #expect(LabClock(system: system, lead: .seconds(6100 * year)).lead == .zero)
        #expect(LabClock(system: system, lead: .seconds(6100 * year)).wasReset)
        #expect(LabClock(system: system, lead: .seconds(.max / 1000)).now == later(0))
    }

    @Test func `without a holder the clock runs with the system's and wakes sleepers`() async throws {
        let clock = LabClock(system: system)
        #expect(clock.now == later(0))
        let task = try await sleeper(on: clock, until: later(10))
        try await tick(to: later(10))
        try await task.value
        #expect(clock.now == later(10))
        try await clock.sleep(until: later(5))
    }

    @Test func `sleepers wake in the order of their deadlines`() async throws {
        let clock = LabClock(system: system)
        let late = try await sleeper(on: clock, until: later(60))
        let early = try await sleeper(on: clock, until: later(20))
        try await tick(to: later(20))
        try await early.value
        try await tick(to: later(60))
        try await late.value
    }

    @Test func `a held clock moves only when it is advanced`() async throws {
        let clock = LabClock(system: system)
        clock.hold()
        let task = try await sleeper(on: clock, until: later(3 * 86_400))
        system.advance(to: later(1000))
        #expect(clock.now == later(0))
        #expect(clock.nextDeadline == later(3 * 86_400))
        clock.advance(to: later(3 * 86_400))
        try await task.value
        #expect(clock.now == later(3 * 86_400))
        clock.advance(to: later(5))
        #expect(clock.now == later(3 * 86_400))
    }

    @Test func `advancing wakes all sleepers that are due, in the order of their deadlines`() async throws {
        let clock = LabClock(system: system)
        clock.hold()
        let woken = Mutex<[Int64]>([])
        let thread = LabThread()
        var tasks: [Task<Void, Never>] = []
        for seconds: Int64 in [30, 10, 20, 40] {
            let (before, deadline) = (clock.sleepingTaskCount, later(seconds))
            tasks.append(
                thread.start {
                    guard (try? await clock.sleep(until: deadline)) != nil else { return }
                    woken.withLock { $0.append(seconds) }
                })
            try await until { clock.sleepingTaskCount != before }
        }
        clock.advance(to: later(30))
        await thread.settle()
        #expect(woken.withLock { $0 } == [10, 20, 30])
        tasks[3].cancel()
        await tasks[3].value
        #expect(clock.sleepingTaskCount == 0)
        #expect(woken.withLock { $0 } == [10, 20, 30])
    }

    @Test func `a released clock continues from its own time and never goes back`() async throws {
        let clock = LabClock(system: system)
        clock.hold()
        clock.hold()
        clock.advance(to: later(3600))
        clock.release()
        system.advance(to: later(10))
        #expect(clock.now == later(3600))
        let task = try await sleeper(on: clock, until: later(3700))
        clock.release()
        #expect(clock.now == later(3600))
        try await tick(to: later(110))
        try await task.value
        #expect(clock.now == later(3700))
    }

    @Test func `a clock released behind the system's jumps to it and wakes sleepers that are due`() async throws {
        let clock = LabClock(system: system)
        clock.hold()
        let task = try await sleeper(on: clock, until: later(50))
        system.advance(to: later(100))
        clock.release()
        try await task.value
        #expect(clock.now == later(100))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a task about to sleep while the clock is held and released is still woken`() async throws {
        let clock = LabClock(system: system)
        for second: Int64 in [30, 10, 20] { #expect(clock.announce(later(second))) }
        clock.hold()
        #expect(clock.announce(later(40)))
        clock.release()
        // No task sleeps yet, but there is an alarm for each announced deadline.
        for second: Int64 in [10, 20, 30, 40] {
            while system.nextDeadline != later(second) {
                try Task.checkCancellation()
                await Task.yield()
            }
            system.advance(to: later(second))
        }
        #expect(!clock.announce(later(40)))
    }

    @Test func `the clock keeps the lead that it was given`() {
        let clock = LabClock(system: system, lead: .seconds(500))
        #expect(clock.now == later(500))
        system.advance(to: later(10))
        #expect(clock.now == later(510) && clock.lead == .seconds(500))
        clock.hold()
        system.advance(to: later(600))
        #expect(clock.now == later(510) && clock.lead == .zero)
    }
}

/// When a lab is idle.
@Suite struct LabThreadTests {
    @Test func `a lab is idle when every task sleeps, and busy while any has work`() async throws {
        let thread = LabThread()
        let clock = VirtualClock(now: EmbeddedWorld.startTime)
        await thread.settle()
        let steps = Mutex(0)
        let task = thread.start {
            for second: Int64 in 1...3 {
                for _ in 0..<50 { await Task.yield() }
                steps.withLock { $0 += 1 }
                try? await clock.sleep(until: EmbeddedWorld.startTime + .seconds(second))
            }
        }
        for number in 1...3 {
            await thread.settle()
            #expect(steps.withLock { $0 } == number)
            #expect(clock.sleepingTaskCount == 1)
            // A woken task counts as busy at once.
            #expect(clock.advanceToNextDeadline())
        }
        await thread.settle()
        await task.value
    }

    @Test func `a lab is busy while a task waits for something outside`() async throws {
        let thread = LabThread()
        let (outside, answer) = AsyncStream.makeStream(of: Void.self)
        let hasEnded = Mutex(false)
        _ = thread.start {
            thread.beginOutsideWait()
            for await _ in outside { break }
            thread.endOutsideWait()
            hasEnded.withLock { $0 = true }
        }
        async let quiet: Void = thread.settle()
        answer.yield()
        await quiet
        #expect(hasEnded.withLock { $0 })
    }
}
