import PushModel
import RemoteHub
import Synchronization
import Testing

@testable import PushLab

/// The requests that keep a session open while its run makes none.
@Suite struct LabKeepAliveTests {
    /// A lab that records its calls and reports the session as ended when the test says so.
    private final class RecordingLab: LabConnection {
        private let state = Mutex((calls: [String](), isOver: false))

        var calls: [String] { state.withLock { $0.calls } }

        func forget() { state.withLock { $0.isOver = true } }

        func call(_ method: String, _ path: String, _ body: JSON?) async throws(PushError) -> JSON {
            let isOver = state.withLock { state in
                state.calls.append("\(method) \(path)")
                return state.isOver
            }
            if isOver { throw LabSessions.missing }
            return ["id": "s", "hub": "hub", "connectionString": "c", "now": 0, "reasons": [:]]
        }
    }

    private let system = VirtualClock(now: EmbeddedWorld.startTime)
    private let lab = RecordingLab()

    /// Opens a session for a run whose thread is always busy.
    private func open() async throws -> LabSessionClient {
        try await LabSessionClient.open(lab, hub: nil, run: "r-0001", system: system) { _ in Task {} }
    }

    private func wait(until isSo: () -> Bool) async throws {
        while !isSo() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Advances the time by half a minute as soon as a task waits for it.
    private func advanceHalfMinute() async throws {
        try await wait { system.hasSleepingTasks }
        system.advance(to: system.now + .seconds(30))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a session is refreshed every half minute while its run only computes, until the run ends it`() async throws {
        let session = try await open()
        for number in 1...5 {
            try await advanceHalfMinute()
            try await wait { lab.calls.count > number }
        }
        #expect(lab.calls.dropFirst() == Array(repeating: "GET /lab/sessions/s", count: 5)[...])
        // The refresh does not read the lab's time.
        #expect(session.clock.now == Timestamp(milliseconds: 0))
        try await session.close()
        #expect(lab.calls.last == "DELETE /lab/sessions/s")
        try await wait { !system.hasSleepingTasks }
        #expect(lab.calls.count == 7)
    }

    @Test(.timeLimit(.minutes(10)))
    func `an ended session is not refreshed any more`() async throws {
        let session = try await open()
        lab.forget()
        try await advanceHalfMinute()
        try await wait { lab.calls.count >= 2 }
        try await wait { !system.hasSleepingTasks }
        try await session.close()
        #expect(lab.calls == ["POST /lab/sessions", "GET /lab/sessions/s", "DELETE /lab/sessions/s"])
    }
}
