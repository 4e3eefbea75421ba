import PushCore
import RemoteHub
import Synchronization
import Testing

@testable import PushHost

/// What keeps a session open while its run has nothing to ask.
@Suite struct LabPulseTests {
    /// A lab that notes what it is asked, and says that a session is over when the test says so.
    private final class NotingLab: LabConnection {
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

    private let system = VirtualClock(now: EmbeddedWorld.dawn)
    private let lab = NotingLab()

    /// Opens a session for a run whose thread never has time.
    private func open() async throws -> LabSessionClient {
        try await LabSessionClient.open(lab, hub: nil, run: "r-0001", system: system) { _ in Task {} }
    }

    private func wait(until isSo: () -> Bool) async throws {
        while !isSo() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Half a minute goes by, once somebody waits for it.
    private func goOn() async throws {
        try await wait { system.hasSleepers }
        system.advance(to: system.now + .seconds(30))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a run that only computes is heard of every half minute, until it gives its session back`() async throws {
        let session = try await open()
        for number in 1...5 {
            try await goOn()
            try await wait { lab.calls.count > number }
        }
        #expect(lab.calls.dropFirst() == Array(repeating: "GET /lab/sessions/s", count: 5)[...])
        // The time of the lab is not asked for.
        #expect(session.clock.now == Timestamp(milliseconds: 0))
        try await session.close()
        #expect(lab.calls.last == "DELETE /lab/sessions/s")
        try await wait { !system.hasSleepers }
        #expect(lab.calls.count == 7)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a session that is over is asked for no more`() async throws {
        let session = try await open()
        lab.forget()
        try await goOn()
        try await wait { lab.calls.count >= 2 }
        try await wait { !system.hasSleepers }
        try await session.close()
        #expect(lab.calls == ["POST /lab/sessions", "GET /lab/sessions/s", "DELETE /lab/sessions/s"])
    }
}
