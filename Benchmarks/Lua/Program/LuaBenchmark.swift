import CLua
import Glibc
import Lua
import StockLua

/// `make bench-lua`: this package against stock Lua and plain C, measured in turns; the minimum of all rounds counts.
@main struct LuaBenchmark {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // An asynchronous main would end the first thread, which neither callgrind nor a worker of libdispatch survives.
        if arguments.first == "count" {
            Task(executorPreference: LuaThread(name: "main")) { await finish(arguments) }
        } else {
            Task.detached { await finish(arguments) }
        }
        while true { pause() }
    }

    private static func finish(_ arguments: [String]) async -> Never {
        do {
            try await start(arguments)
            fflush(nil)
            exit(0)
        } catch {
            print("failed: \(error)")
            fflush(nil)
            exit(1)
        }
    }

    private static func start(_ arguments: [String]) async throws {
        switch arguments.first {
        case nil: try await measureAll()
        case "attack": try await AttackFigures.run(Int(arguments[1]) ?? 0)
        case "memory": try await MemoryFigures(rawValue: arguments[1])?.measure()
        case "loops": listLoops()
        case "count":
            stock_fix_time(Int64(arguments[4]) ?? 1)
            try await count(arguments[1], isStock: arguments[2] == "stock", Int(arguments[3]) ?? 0)
        case let word?: print("unknown: \(word)")
        }
    }

    /// The loops with a rival, for instruction counts: id, iterations, goal, title.
    private static func listLoops() {
        for loop in Loop.all {
            var goal = "-"
            if case .ratio(let limit) = loop.goal { goal = fixed(limit, 2) }
            print(loop.id, loop.iterations, goal, loop.title, separator: "\t")
        }
        print("states", 1_000, "0.67", "sandboxed `LuaState`, opened and closed; stock libraries", separator: "\t")
    }

    private static func count(_ id: String, isStock: Bool, _ count: Int) async throws {
        if id == "states" {
            if isStock {
                for _ in 0..<count { stock_open_and_close() }
            } else {
                try await StateFigures.open(count, on: LuaThread(name: "bench"))
            }
            return
        }
        guard let loop = Loop.all.first(where: { $0.id == id }) else { return print("no loop \(id)") }
        if isStock {
            _ = stock_run(stock_open(), loop.source(calling: loop.function.stock), Int64(count))
        } else {
            let source = "require('host').block_ticks() " + loop.source(calling: loop.function.ours)
            _ = try await Host().run(source, count: count)
        }
    }

    private static func measureAll() async throws {
        let host = try await Host()
        guard let stock = stock_open() else { return }
        try await measureLoops(host, stock)
        try await measureStates(StateFigures(host: host, stock: stock))
        measureMemory()
        AttackFigures.printTable()
        try await measureFairness()
    }

    private static func measureLoops(_ host: Host, _ stock: OpaquePointer) async throws {
        var figures = Loop.all.map {
            Figure(name: $0.title, value: .infinity, unit: .nanoseconds, rival: .infinity, goal: $0.goal)
        }
        for _ in 0..<12 {
            for (index, loop) in Loop.all.enumerated() {
                let count = Double(loop.iterations)
                let ours = try await host.run(loop.source(calling: loop.function.ours), count: loop.iterations)
                let rival = stock_run(stock, loop.source(calling: loop.function.stock), Int64(loop.iterations))
                figures[index].value = min(figures[index].value, ours / count)
                figures[index].rival = min(figures[index].rival ?? .infinity, rival / count)
            }
        }
        Figure.printTable("Scripts, for each call or round", rival: "stock Lua and C", figures)
    }

    private static func measureStates(_ states: StateFigures) async throws {
        let measures = states.measures
        var figures = measures.map {
            Figure(name: $0.name, value: .infinity, unit: .nanoseconds, rival: $0.rival.map { _ in .infinity }, goal: $0.goal)
        }
        func nanoseconds(_ measure: Measure, _ body: (Int) async throws -> Void) async throws -> Double {
            let begin = stock_now_ns()
            try await body(measure.count)
            return Double(stock_now_ns() - begin) / Double(measure.count)
        }
        for _ in 0..<12 {
            for (index, measure) in measures.enumerated() {
                figures[index].value = min(figures[index].value, try await nanoseconds(measure, measure.body))
                guard let rival = measure.rival, let least = figures[index].rival else { continue }
                figures[index].rival = min(least, try await nanoseconds(measure, rival))
            }
        }
        Figure.printTable("Awaits, states and runs, for each", rival: "rival", figures)
    }

    private static func measureMemory() {
        print("\n| resident memory for each | bytes | goal | cancelling all | left |\n|---|---|---|---|---|")
        for kind in MemoryFigures.allCases {
            let words = ChildProcess.run(["memory", kind.rawValue]).words
            guard words.count == 4, let bytes = Double(words[0]), let elapsed = Double(words[1]) else {
                print("| \(kind.name) | failed | | | |")
                continue
            }
            let figure = Figure(name: kind.name, value: bytes, unit: .bytes, goal: kind.goal)
            var goal = "–"
            if case .value(let limit) = kind.goal { goal = "≤ \(fixed(limit, 0)) B" + (figure.isBeyondGoal ? ", **missed**" : "") }
            print("| \(kind.name) | \(fixed(bytes, 0)) | \(goal) | \(words[3]) in \(fixed(elapsed, 0)) ms | \(words[2]) |")
        }
    }

    /// Measures small runs while another run of the same state never waits.
    private static func measureFairness() async throws {
        let host = try await Host()
        let spinner = Task(executorPreference: host.thread) {
            _ = try? await host.state.run(LuaScript(name: "spin.lua", source: "while true do end"), id: host.nextID())
        }
        var times: [Double] = []
        for _ in 0..<100 {
            let begin = stock_now_ns()
            _ = try await host.state.run(LuaScript(name: "one.lua", source: "return 1"), id: host.nextID())
            times.append(Double(stock_now_ns() - begin) / 1_000_000)
        }
        spinner.cancel()
        await spinner.value
        times.sort()
        print("\nA small run beside one that never waits: median \(fixed(times[50], 1)) ms, at most \(fixed(times[99], 1)) ms of 100.")
    }
}
