import Lua
import PushModel
import Support
import Synchronization
import Testing

@testable import PushLab

@Suite struct ExchangeLoopTests {
    /// Records events in order, with the virtual time.
    private final class EventLog: Sendable {
        private let clock: VirtualClock
        private let entries = Mutex<[String]>([])

        init(clock: VirtualClock) { self.clock = clock }

        var lines: [String] { entries.withLock { $0 } }

        func note(_ text: String) { entries.withLock { $0.append("\(text) \(clock.now - EmbeddedWorld.startTime)") } }
    }

    @Test func `during an exchange no other task runs and no virtual time passes`() async throws {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let (loop, clock) = (ExchangeExecutor(thread: thread), VirtualClock(now: EmbeddedWorld.startTime))
        let (isOut, answer) = (Gate(), Gate())
        let log = EventLog(clock: clock)
        let sleeper = Task(executorPreference: thread) {
            try await clock.sleep(until: EmbeddedWorld.startTime + .seconds(5))
            log.note("woke")
        }
        let exchange = Task(executorPreference: thread) {
            await loop.finish {
                isOut.open()
                await answer.wait()
                log.note("answered")
            }
            log.note("went on")
        }
        await isOut.wait()
        thread.setIdleHandler { clock.step() == .woke }
        let other = Task(executorPreference: thread) { log.note("other") }
        answer.open()
        await exchange.value
        await other.value
        try await sleeper.value
        thread.setIdleHandler(nil)
        #expect(log.lines == ["answered 0.0 seconds", "went on 0.0 seconds", "other 0.0 seconds", "woke 5.0 seconds"])
    }

    @Test func `an exchange that never completes can be abandoned, and its work continues when it does`() async {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let loop = ExchangeExecutor(thread: thread)
        let (isOut, answer, end) = (Gate(), Gate(), Gate())
        let exchange = Task(executorPreference: thread) {
            await loop.finish {
                isOut.open()
                await answer.wait()
                end.open()
                return 1
            }
        }
        await isOut.wait()
        loop.giveUp()
        #expect(await exchange.value == nil)
        #expect(await loop.finish { 2 } == 2)
        answer.open()
        await end.wait()
    }

    @Test func `ending does not wait longer than the patience, for this exchange and those after it`() async {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let loop = ExchangeExecutor(thread: thread, timeout: .zero)
        let (isOut, never) = (Gate(), Gate())
        let exchange = Task(executorPreference: thread) {
            await loop.finish {
                isOut.open()
                await never.wait()
            }
        }
        await isOut.wait()
        loop.shortenTimeouts(permanently: false)
        #expect(await exchange.value == nil)
        // The next exchange has its full time, until the end is final.
        loop.shortenTimeouts(permanently: true)
        #expect(await loop.finish { await never.wait() } == nil)
        never.open()
    }

    @Test func `tasks started by an exchange run with it, and those still running end later`() async {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let loop = ExchangeExecutor(thread: thread)
        let (gate, left) = (Gate(), Gate())
        let sum = await loop.finish {
            Task(executorPreference: loop) {
                await gate.wait()
                left.open()
            }
            return await withTaskGroup(of: Int.self) { group in
                for number in 1...100 {
                    group.addTask {
                        await Task.yield()
                        #expect(thread.isCurrent)
                        return number
                    }
                }
                return await group.reduce(0, +)
            }
        }
        #expect(sum == 5050)
        #expect(await loop.finish { 1 } == 1)
        gate.open()
        await left.wait()
    }
}
