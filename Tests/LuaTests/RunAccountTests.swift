import Synchronization
import Testing

@testable import Lua

/// One account for all resources that a run uses, in Lua and in the host.
@Suite struct RunAccountTests {
    // MARK: - Account only

    /// A generator with the same numbers in every process.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    /// A clock that the test moves, in nanoseconds.
    private final class ManualTime: Sendable {
        private let time = Mutex<Int64>(0)
        var now: Int64 { time.withLock { $0 } }
        func advance(by nanoseconds: Int64) { time.withLock { $0 += nanoseconds } }
    }

    @Test(arguments: 1...40)
    func `after a budget is spent charges are refused, and each operation in flight adds one note`(seed: UInt64) {
        var numbers = Numbers(state: seed)
        let time = ManualTime()
        let limits = RunAccount.Limits(
            cpu: .nanoseconds(Int.random(in: 0...50_000, using: &numbers)), time: .nanoseconds(Int.random(in: 1...50_000, using: &numbers)),
            memory: .random(in: 0...50_000, using: &numbers), output: .random(in: 0...50_000, using: &numbers),
            files: .random(in: 0...50, using: &numbers), tasks: .random(in: 0...50, using: &numbers))
        let account = RunAccount(limits, now: { time.now })
        // Operations in flight, with the amounts they will have used at their end.
        var inFlight: [(resource: RunAccount.Resource, amount: Int)] = []
        var chargedAfter = 0
        var notesAfter = 0
        var underWayThen = 0
        var admitted: [RunAccount.Resource: Int] = [:]
        var noted: [RunAccount.Resource: Int] = [:]
        var isOver = false
        for _ in 0..<4_000 {
            let resource = RunAccount.Resource.allCases.filter { $0 != .time }.randomElement(using: &numbers) ?? .cpu
            let amount = Int.random(in: 0...(resource == .files || resource == .tasks ? 5 : 3_000), using: &numbers)
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0, 1:
                do throws(LuaError) {
                    try account.checkTime()
                    try account.charge(resource, amount)
                    admitted[resource, default: 0] += amount
                    if isOver { chargedAfter += amount }
                } catch {
                    #expect(error.code.hasPrefix("budget."))
                }
            case 2:
                // An operation starts only if every budget has something left.
                if account.canContinue, !isOver { inFlight.append((resource, amount)) }
            case 3:
                guard !inFlight.isEmpty else { continue }
                let ended = inFlight.removeFirst()
                account.note(ended.resource, ended.amount)
                noted[ended.resource, default: 0] += ended.amount
                if isOver { notesAfter += 1 }
            default: time.advance(by: Int64.random(in: 0...20, using: &numbers))
            }
            if !isOver, !account.canContinue {
                isOver = true
                underWayThen = inFlight.count
            }
        }
        #expect(isOver)
        #expect(chargedAfter == 0)
        #expect(notesAfter <= underWayThen)
        // Charges stay within the limits, whatever was noted besides.
        #expect(Int64(admitted[.cpu, default: 0]) <= limits.cpu.nanoseconds)
        #expect(admitted[.memory, default: 0] <= limits.memory)
        #expect(admitted[.output, default: 0] <= limits.output)
        #expect(admitted[.files, default: 0] <= limits.files)
        #expect(admitted[.tasks, default: 0] <= limits.tasks)
        #expect(account.used(.output) == admitted[.output, default: 0] + noted[.output, default: 0])
        #expect(account.used(.memory) == admitted[.memory, default: 0] + noted[.memory, default: 0])
    }

    @Test(arguments: [
        (RunAccount.Resource.cpu, "budget.cpu"), (RunAccount.Resource.memory, "budget.memory"),
        (RunAccount.Resource.output, "budget.output"), (RunAccount.Resource.files, "budget.files"),
    ])
    func `a charge over the limit is refused, and all later errors name that budget`(
        resource: RunAccount.Resource, code: String
    ) {
        let account = RunAccount(RunAccount.Limits(cpu: .nanoseconds(10), memory: 10, output: 10, files: 10))
        #expect(account.admit(resource, 8))
        let first = #expect(throws: LuaError.self) { try account.charge(resource, 3) }
        #expect(first?.code == code && first?.kind == .budget)
        #expect(account.isSpent && account.spent == resource)
        for other in RunAccount.Resource.allCases where other != .time {
            let later = #expect(throws: LuaError.self) { try account.charge(other, 1) }
            #expect(later?.code == code, "\(other)")
        }
    }

    @Test func `too many tasks are refused without spending a budget`() throws {
        let account = RunAccount(RunAccount.Limits(tasks: 2))
        try account.charge(.tasks, 2)
        let error = #expect(throws: LuaError.self) { try account.charge(.tasks, 1) }
        #expect(error?.code == "budget.tasks" && error?.kind == .failure)
        #expect(!account.isSpent)
        account.release(.tasks, 1)
        try account.charge(.tasks, 1)
    }

    @Test func `an exceeded time limit is found at the next check`() throws {
        let time = ManualTime()
        let account = RunAccount(RunAccount.Limits(time: .nanoseconds(100)), now: { time.now })
        time.advance(by: 100)
        try account.checkTime()
        #expect(account.canContinue)
        time.advance(by: 1)
        #expect(!account.canContinue)
        let error = #expect(throws: LuaError.self) { try account.checkTime() }
        #expect(error?.code == "budget.wall")
        #expect(account.isSpent)
        account.renew()
        #expect(account.canContinue && !account.isSpent)
    }

    @Test func `huge amounts spend a budget without an overflow`() {
        for resource in RunAccount.Resource.allCases where resource != .time {
            let account = RunAccount()
            #expect(!account.admit(resource, .max))
            account.note(resource, .max / 2)
            account.note(resource, .max / 2)
            #expect(account.isSpent == (resource != .tasks), "\(resource)")
        }
    }

    @Test func `Lua and the host share one memory budget`() {
        let account = RunAccount(RunAccount.Limits(memory: 1_000))
        #expect(account.memoryLimit(forLua: 300, before: 0) == 1_000)
        #expect(account.admit(.memory, 500))
        #expect(account.memoryLimit(forLua: 400, before: 300) == 500)
        // Another state of the run gets the remainder.
        #expect(account.memoryLimit(forLua: 50, before: 0) == 100)
        #expect(!account.admit(.memory, 51))
    }

    // MARK: - In the machine

    /// A state that charges one account, with functions of a host that do work for it.
    private struct Hosted {
        let thread = LuaThread(name: "account")
        let account: RunAccount
        let state: LuaState
        let gates = Gates()

        init(_ limits: RunAccount.Limits, searchPath: LuaSearchPath? = nil) async throws {
            let account = RunAccount(limits)
            self.account = account
            let gates = gates
            state = try LuaState(
                thread: thread, limits: LuaLimits(memory: limits.memory, cpu: limits.cpu, tasks: limits.tasks), seed: 1, absent: [:],
                searchPath: searchPath, account: account)
            try await state.define(
                LuaModule(
                    name: "host",
                    functions: [
                        // Uses seconds of the thread's CPU time after a suspension, when no Lua code runs.
                        .async("host.work") { call in
                            await Task.yield()
                            guard case .integer(let seconds)? = call.arguments.first else { return [] }
                            ManualClock.tick(Int(seconds) * 200)
                            return []
                        },
                        .async("host.work_and_wait") { call in
                            await Task.yield()
                            ManualClock.tick(4_000)
                            try await gates.wait("never")
                            return []
                        },
                        .sync("host.write") { call in
                            try account.charge(.output, 100)
                            return []
                        },
                        .sync("host.store") { call in
                            guard case .integer(let bytes)? = call.arguments.first else { return [] }
                            try account.charge(.memory, Int(bytes))
                            return []
                        },
                    ]))
        }

        func run(_ source: String) async throws -> [LuaValue] {
            defer { thread.stop() }
            return try await state.run(LuaScript(name: "a.lua", source: "local host = require 'host' \(source)"), id: LuaRunID(rawValue: 1))
        }

        func failure(of source: String) async throws -> LuaError {
            do {
                let values = try await run(source)
                Issue.record("it returned \(values)")
                throw Bench.refusal
            } catch let error as LuaError {
                return error
            }
        }
    }

    @Test func `work of the host for a waiting run is charged to its CPU budget`() async throws {
        let hosted = try await Hosted(RunAccount.Limits(cpu: .seconds(600)))
        #expect(try await hosted.run("host.work(30) host.work(30) return 'done'") == [.string("done")])
        #expect(hosted.account.used(.cpu) >= 60_000_000_000)
        #expect(hosted.account.used(.cpu) < 300_000_000_000)
    }

    @Test func `a loop over functions of the host ends with the CPU budget, even if it catches every error`() async throws {
        let hosted = try await Hosted(RunAccount.Limits(cpu: .seconds(60)))
        let error = try await hosted.failure(of: "while true do pcall(host.work, 10) end")
        #expect(error.code == "budget.cpu")
    }

    @Test func `a run ends with its CPU budget while it waits for the host`() async throws {
        let hosted = try await Hosted(RunAccount.Limits(cpu: .seconds(10)))
        #expect(try await hosted.failure(of: "host.work_and_wait()").code == "budget.cpu")
    }

    @Test func `a script that catches the error of a spent budget is stopped`() async throws {
        let hosted = try await Hosted(RunAccount.Limits(cpu: .seconds(600), output: 1_000))
        #expect(try await hosted.failure(of: "while true do pcall(host.write) end").code == "budget.output")
        #expect(hosted.account.used(.output) == 1_000)
    }

    @Test func `the error of a spent budget has the line of the call`() async throws {
        let hosted = try await Hosted(RunAccount.Limits(cpu: .seconds(600), output: 1_000))
        let error = try await hosted.failure(of: "\n\nfor i = 1, 20 do host.write() end")
        #expect(error.code == "budget.output" && error.location?.line == 3)
    }

    @Test func `Lua gets the memory that the host leaves`() async throws {
        let limits = RunAccount.Limits(cpu: .seconds(600), memory: 8 << 20)
        let text = "local s = ('x'):rep(3 << 20) return #s"
        #expect(try await Hosted(limits).run(text) == [.integer(3 << 20)])
        let error = try await Hosted(limits).failure(of: "host.store(6 << 20) host.work(0) \(text)")
        #expect(error.code == "budget.memory")
        let loop = try await Hosted(limits).failure(of: "while true do pcall(host.store, 100000) end")
        #expect(loop.code == "budget.memory")
    }

    @Test func `every module search counts as a file`() async throws {
        let path = LuaSearchPath.lookup { name in name.hasPrefix("m") ? LuaScript(name: "\(name).lua", source: "return '\(name)'") : nil }
        let few = try await Hosted(RunAccount.Limits(cpu: .seconds(600), files: 3), searchPath: path)
        #expect(try await few.run("for i = 1, 9 do require 'm1' end pcall(require, 'n1') return (require 'm2')") == [.string("m2")])
        let many = try await Hosted(RunAccount.Limits(cpu: .seconds(600), files: 3), searchPath: path)
        #expect(try await many.failure(of: "for i = 1, 9 do pcall(require, 'n' .. i) end while true do end").code == "budget.files")
    }
}
