import PushBackend
import PushModel
import Storage
import Support
import Synchronization
import Testing

/// A server stops in time, whatever its runs do.
@Suite struct FlowStopTests {
    /// Runs that ignore cancellation until the test lets them end.
    private final class DeafFlows: FlowExecutor {
        private struct State {
            var started = 0
            var waiting: [CheckedContinuation<Void, Never>] = []
            var mayEnd = false
        }

        private let state = Mutex(State())

        var started: Int { state.withLock { $0.started } }

        func letGo() {
            let waiting = state.withLock { state in
                state.mayEnd = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func parameters(of flow: ServedFlow) -> FlowDescription {
            FlowDescription(version: "abc123", summary: "", schema: ["type": "object"])
        }

        func check(_ arguments: JSONObject, for flow: ServedFlow, ignoringInvalidValues: Bool) -> CheckedArguments {
            CheckedArguments(values: arguments, secrets: [])
        }

        func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunResult {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.started += 1
                    if !state.mayEnd { state.waiting.append(continuation) }
                    return state.mayEnd
                }
                if isOver { continuation.resume() }
            }
            return RunResult(state: .completed, result: "late")
        }
    }

    private struct Bench {
        let clock = VirtualClock(now: HubBench.startTime)
        let executor = DeafFlows()
        let store: any AutomationStore = MemoryRunStore()
        let flows: FlowDispatcher

        init(_ served: [ServedFlow]) async throws {
            flows = FlowDispatcher(
                store: store, executor: executor, clock: clock, zones: OnlyUTC(), start: { work in Task { await work() } })
            try await flows.begin(served)
        }
    }

    @Test func `runs that do not end when the server stops are stored as interrupted or queued again`() async throws {
        let bench = try await Bench([
            ServedFlow(name: "again", script: "a.lua", policy: RunPolicy(guarantee: .atLeastOnce)),
            ServedFlow(name: "once", script: "b.lua"),
        ])
        for flow in ["again", "once"] { _ = try await bench.flows.start(RunRequest(flow: flow, trigger: .http(by: "key:ops"))) }
        try await until { bench.executor.started == 2 }
        let stop = Task { await bench.flows.stop() }
        try await until { bench.clock.hasSleepingTasks }
        bench.clock.advance(to: bench.clock.now + FlowDispatcher.stopTime)
        await stop.value
        let states = try await bench.store.unfinishedRuns().map(\.state)
        #expect(states == [.queued])
        #expect(try await bench.store.run(2)?.state == .interrupted)
        // A later end of these runs changes nothing.
        bench.executor.letGo()
        await bench.flows.stop()
        #expect(try await bench.store.run(2)?.state == .interrupted)
        #expect(try await bench.store.run(2)?.report.result == nil)
    }

    @Test func `all callers that stop the flows wait for the same end`() async throws {
        let bench = try await Bench([ServedFlow(name: "a", script: "a.lua")])
        _ = try await bench.flows.start(RunRequest(flow: "a", trigger: .http(by: "key:ops")))
        try await until { bench.executor.started == 1 }
        let first = Task { await bench.flows.stop() }
        try await until { bench.clock.hasSleepingTasks }
        let second = Task {
            await bench.flows.stop()
            return try await bench.store.run(1)?.state
        }
        bench.executor.letGo()
        await first.value
        #expect(try await second.value == .completed)
    }
}
