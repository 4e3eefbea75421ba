import Logging
import PushModel
import Synchronization
import Testing

@testable import PushServer

@Suite struct ReadinessTests {
    private final class SetClock: HubClock {
        let time = Mutex(Timestamp(seconds: 1000))
        var now: Timestamp { time.withLock { $0 } }
        func sleep(until deadline: Timestamp) async throws {}
    }

    @Test func `readiness is tested by a write every five seconds, and only the log has the reason of a failure`() async {
        let clock = SetClock()
        let writes = Mutex((count: 0, isFull: false))
        let logged = Mutex("")
        let logger = Logger(label: "t") { _ in
            ServerLog(style: LogStyle(ServerSettings()), clock: clock) { line in logged.withLock { $0 += line } }
        }
        let readiness = Readiness(clock: clock, log: logger) { () throws(PushError) in
            let isFull = writes.withLock { writes in
                writes.count += 1
                return writes.isFull
            }
            if isFull { throw PushError("storage.unavailable", "the disk of /var/secret is full", hint: nil, status: 503) }
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await readiness.isReady() } }
            for await isReady in group { #expect(isReady) }
        }
        #expect(writes.withLock { $0.count } == 1)
        writes.withLock { $0.isFull = true }
        #expect(await readiness.isReady())
        clock.time.withLock { $0 = $0 + Readiness.period }
        #expect(await !readiness.isReady())
        #expect(await !readiness.isReady())
        #expect(writes.withLock { $0.count } == 2)
        #expect(logged.withLock { $0 }.contains("the disk of /var/secret is full"))
        writes.withLock { $0.isFull = false }
        clock.time.withLock { $0 = $0 + Readiness.period }
        #expect(await readiness.isReady())
    }
}
