import Lua
import PushCore
import Synchronization
import Testing

@testable import PushHost

@Suite struct ExchangeLoopTests {
    /// What happened when, in order.
    private final class Diary: Sendable {
        private let clock: VirtualClock
        private let entries = Mutex<[String]>([])

        init(clock: VirtualClock) { self.clock = clock }

        var lines: [String] { entries.withLock { $0 } }

        func note(_ text: String) { entries.withLock { $0.append("\(text) \(clock.now - EmbeddedWorld.dawn)") } }
    }

    @Test func `while an exchange is out nothing else happens, and no time goes by`() async throws {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let (loop, clock) = (ExchangeLoop(thread: thread), VirtualClock(now: EmbeddedWorld.dawn))
        let (isOut, answer) = (Gate(), Gate())
        let diary = Diary(clock: clock)
        let sleeper = Task(executorPreference: thread) {
            try await clock.sleep(until: EmbeddedWorld.dawn + .seconds(5))
            diary.note("woke")
        }
        let exchange = Task(executorPreference: thread) {
            await loop.finish {
                isOut.open()
                await answer.wait()
                diary.note("answered")
            }
            diary.note("went on")
        }
        await isOut.wait()
        thread.setIdleHandler { clock.step() == .woke }
        let other = Task(executorPreference: thread) { diary.note("other") }
        answer.open()
        await exchange.value
        await other.value
        try await sleeper.value
        thread.setIdleHandler(nil)
        #expect(diary.lines == ["answered 0.0 seconds", "went on 0.0 seconds", "other 0.0 seconds", "woke 5.0 seconds"])
    }

    @Test func `an exchange that waits for what does not come is given up, and its work goes on when that comes`() async {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let loop = ExchangeLoop(thread: thread)
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

    @Test func `somebody who wants the end waits no longer than the patience, for this exchange and those after it`() async {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let loop = ExchangeLoop(thread: thread, patience: .zero)
        let (isOut, never) = (Gate(), Gate())
        let exchange = Task(executorPreference: thread) {
            await loop.finish {
                isOut.open()
                await never.wait()
            }
        }
        await isOut.wait()
        loop.hurry(forGood: false)
        #expect(await exchange.value == nil)
        // The next has its time again, until the end is wanted for good.
        loop.hurry(forGood: true)
        #expect(await loop.finish { await never.wait() } == nil)
        never.open()
    }

    @Test func `what an exchange starts goes on with it, and what it leaves behind ends later`() async {
        let thread = LuaThread(name: "loop")
        defer { thread.stop() }
        let loop = ExchangeLoop(thread: thread)
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
