import CLua
import Glibc
import Testing

@testable import Lua

/// Scripts that try to block their host. They run in child processes, where anything that cannot be stopped is killed.
@Suite struct AttackTests {
    private static let lists = [(Attacks.loops, ""), (Attacks.texts, ""), (Attacks.tables, Attacks.tableSetUp)]
        .map { attacks, setUp in (sources: attacks.map(\.source), setUp: setUp) }

    @Test(arguments: lists)
    func `an attack ends with the instruction budget`(sources: [String], setUp: String) async {
        await #expect(processExitsWith: .success) { [sources = sources as [String], setUp = setUp as String] in
            for source in sources {
                let script = setUp + Self.endless(source)
                await Self.expectEnd(of: script, code: "budget.instructions", LuaLimits(cpu: .seconds(60), instructions: 1_000_000))
            }
        }
    }

    @Test(arguments: lists + [(sources: Attacks.longInstructions.map(\.source), setUp: "")])
    func `an attack ends with the CPU budget`(sources: [String], setUp: String) async {
        await #expect(processExitsWith: .success) { [sources = sources as [String], setUp = setUp as String] in
            for source in sources {
                let script = setUp + Self.endless(source)
                await Self.expectEnd(of: script, code: "budget.cpu", LuaLimits(cpu: .milliseconds(50)))
            }
        }
    }

    @Test func `compiling a script is within its budgets`() async {
        await #expect(processExitsWith: .success) {
            let chain = "if x then " + String(repeating: "elseif x then ", count: 200_000) + "end"
            await Self.expectEnd(of: chain, code: "budget.cpu", LuaLimits(cpu: .milliseconds(100)))
            await Self.expectEnd(of: chain, code: "budget.instructions", LuaLimits(cpu: .seconds(600), instructions: 1_000_000))
        }
    }

    @Test(arguments: [
        ("budget.cpu", LuaLimits(cpu: .milliseconds(30))),
        ("budget.wall", LuaLimits(wall: .milliseconds(30))),
        ("budget.instructions", LuaLimits(cpu: .seconds(60), instructions: 2_000_000)),
    ])
    func `a script cannot catch the end of its budget`(code: String, limits: LuaLimits) async {
        let (cpu, wall) = (limits.cpu.nanoseconds, limits.wall?.nanoseconds)
        await #expect(processExitsWith: .success) {
            [code = code as String, cpu = cpu as Int64, wall = wall as Int64?, instructions = limits.instructions as Int?] in
            let limits = LuaLimits(cpu: .nanoseconds(cpu), wall: wall.map { .nanoseconds($0) }, instructions: instructions)
            for source in Attacks.swallowers.map(\.source) {
                await Self.expectEnd(of: "local SPIN = function() while true do end end " + source, code: code, limits)
            }
        }
    }

    /// Only a few scripts, because each uses the full second allowed for cleanup.
    @Test(arguments: [1, 8, 12])
    func `a cancelled run cannot catch the end of its cleanup`(index: Int) async {
        await #expect(processExitsWith: .success) { [source = Attacks.swallowers[index].source as String] in
            await Self.expectEnd(
                of: "require('self').cancel() local SPIN = function() while true do end end " + source, code: "cancelled", LuaLimits())
        }
    }

    /// Shows that the tests in child processes fail instead of hanging.
    @Test func `a process that hangs is killed`() async {
        await #expect(processExitsWith: .signal(SIGPROF)) {
            HangGuard.arm(milliseconds: 250)
            _ = try await Bench(limits: LuaLimits(cpu: .seconds(3_600))).run("while true do end")
        }
    }

    // MARK: In the child process

    private static func endless(_ source: String) -> String {
        source.hasPrefix("while true") || source.contains(" while true do ") ? source : "while true do \(source) end"
    }

    /// Runs a script until its end, for at most 10 s of CPU time; then the state must still work.
    static func expectEnd(of source: String, code: String, _ limits: LuaLimits) async {
        HangGuard.arm()
        do {
            let bench = try await Bench(limits: LuaLimits(memory: 48 << 20))
            try await bench.defineSelfCancel()
            let error = try await bench.failure(of: source, limits: limits)
            #expect(error.code == code, "\(source.prefix(300)): \(error)")
            #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        } catch {
            Issue.record("\(source.prefix(300)): \(error)")
        }
    }
}
