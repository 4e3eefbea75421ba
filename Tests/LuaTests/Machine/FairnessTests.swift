import Synchronization
import Testing

@testable import Lua

/// How long a spinning run delays others: counted in its own turns, with a clock that it moves itself.
@Suite struct FairnessTests {
    /// The rounds that the spinner has begun, and the round in which each other run ended.
    private final class Rounds: Sendable {
        private let state = Mutex<(count: Int, ends: [Int])>((0, []))
        static let most = 1_000

        var ends: [Int] { state.withLock { $0.ends } }

        /// Begins a round, which lasts one turn. Returns `false` if all others have ended, or too many rounds have passed.
        func begin(beside others: Int) -> Bool {
            let continues = state.withLock {
                $0.count += 1
                return $0.count < Self.most && $0.ends.count < others
            }
            if continues { ManualClock.tick(2) }
            return continues
        }

        func noteEnd() { state.withLock { $0.ends.append($0.count) } }
    }

    private static let waits = 10

    @Test(arguments: [
        "fair.wait()", "t.spawn(fair.wait):await()", "t.all { fair.wait }", "for i = 1, 100 do end",
    ])
    func `short runs get turns between any two turns of a spinning run`(step: String) async throws {
        let rounds = Rounds()
        let thread = LuaThread(name: "fair")
        // One state has the spinner, the other is a neighbour on the same thread.
        let benches = [try await Bench(thread: thread), try await Bench(thread: thread)]
        let small = (0..<32).map { (bench: benches[$0 % 2], gate: "go\($0)") }
        for bench in benches {
            try await bench.state.define(
                LuaModule(
                    name: "fair",
                    functions: [
                        .sync("fair.begin") { _ in
                            for run in small { run.bench.gates.open(run.gate) }
                            return []
                        },
                        .async("fair.wait") { _ in
                            await withCheckedContinuation { waiting in thread.perform { waiting.resume() } }
                            return []
                        },
                        .sync("fair.round") { _ in [.boolean(rounds.begin(beside: small.count))] },
                        .sync("fair.done") { _ in
                            rounds.noteEnd()
                            return []
                        },
                    ]))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for run in small {
                group.addTask {
                    try await run.bench.run(
                        "local fair = require 'fair' t.gate '\(run.gate)' for i = 1, \(Self.waits) do \(step) end fair.done()")
                }
            }
            for run in small { await run.bench.gates.arrival(at: run.gate) }
            try await benches[0].run("local fair = require 'fair' fair.begin() while fair.round() do for i = 1, 3000 do end end")
            try await group.waitForAll()
        }
        #expect(rounds.ends.count == small.count)
        // Each wait consists of a few jobs on the thread, with one round between two jobs, independent of the number
        // of runs.
        let latest = try #require(rounds.ends.max())
        #expect(latest <= 8 * (Self.waits + 1))
    }

    @Test func `runs that spin take turns`() async throws {
        let rounds = Mutex<[Int]>([])
        let thread = LuaThread(name: "fair")
        let benches = [try await Bench(thread: thread), try await Bench(thread: thread)]
        let spinners = (0..<4).map { (bench: benches[$0 % 2], name: "\($0)") }
        for bench in benches {
            try await bench.state.define(
                LuaModule(
                    name: "fair",
                    functions: [
                        .sync("fair.begin") { _ in
                            for spinner in spinners { spinner.bench.gates.open(spinner.name) }
                            return []
                        },
                        .sync("fair.round") { call in
                            if case .integer(let number)? = call.arguments.first { rounds.withLock { $0.append(Int(number)) } }
                            ManualClock.tick(2)
                            return []
                        },
                    ]))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for spinner in spinners {
                group.addTask {
                    try await spinner.bench.run(
                        """
                        local fair = require 'fair'
                        t.gate '\(spinner.name)'
                        for i = 1, 200 do fair.round(\(spinner.name)) for i = 1, 3000 do end end
                        """)
                }
            }
            for spinner in spinners { await spinner.bench.gates.arrival(at: spinner.name) }
            try await benches[0].run("require('fair').begin()")
            try await group.waitForAll()
        }
        let all = rounds.withLock { $0 }
        for number in 0..<4 {
            let own = all.indices.filter { all[$0] == number }
            #expect(own.count == 200)
            // Between two rounds of one run the others have at most two each, plus those from ticks of the real clock.
            let longest = zip(own, own.dropFirst()).map { $1 - $0 - 1 }.max() ?? 0
            #expect(longest <= 8, "\(number)")
        }
    }
}
