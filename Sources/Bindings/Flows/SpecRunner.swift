package import Lua
package import PushModel

/// Runs the tests of specs, each with its own world, Lua state and thread.
package struct SpecRunner: Sendable {
    package typealias WorldMaker = @Sendable (LuaThread, FlowScript) throws(PushError) -> FlowWorld

    private let limits: LuaLimits
    private let seed: UInt64
    private let scripts: any ScriptLibrary
    private let makeWorld: WorldMaker

    package init(limits: LuaLimits, seed: UInt64, scripts: any ScriptLibrary, world: @escaping WorldMaker) {
        self.limits = limits
        self.seed = seed
        self.scripts = scripts
        makeWorld = world
    }

    /// The tests that a spec declares. Throws what the file raises outside of its tests.
    package func tests(of script: FlowScript) async throws -> [TestCase] {
        try await onThread(script) { runner, events in
            try await runner.tests(of: script) { events.append($0) }
        }
    }

    /// Runs the test with this number in file order, from 1. Throws `test.unstable` if another test is found there, because the file
    /// declares its tests in varying order.
    package func run(_ test: TestCase, number: Int, of script: FlowScript) async throws(PushError) -> TestResult {
        do {
            return try await onThread(script) { runner, events in
                let (report, found) = await runner.run(test, number: number, of: script) { events.append($0) }
                guard found == test.fullName || report.hasRaised else { throw Self.unstable(test, found) }
                return TestResult(report: report, events: events.all)
            }
        } catch let error as PushError {
            throw error
        } catch {
            throw PushError("host.error", "\(error)")
        }
    }

    private static func unstable(_ test: TestCase, _ found: String?) -> PushError {
        PushError(
            "test.unstable",
            "the order of tests has changed: found \(found.map { "\"\($0)\"" } ?? "no test") instead of \"\(test.fullName)\"",
            hint: "declare the tests in a fixed order, for example with ipairs; next() over a table has no fixed order")
    }

    private func onThread<Result>(
        _ script: FlowScript, _ work: (FlowRunner, FlowEventLog) async throws -> Result
    ) async throws -> Result {
        let thread = LuaThread(name: "spec")
        defer { thread.stop() }
        let world = try makeWorld(thread, script)
        var runner = FlowRunner(world: world, thread: thread, limits: limits, seed: seed, scripts: scripts)
        runner.retainsEvents = true
        let result: Result
        do {
            result = try await work(runner, FlowEventLog())
        } catch {
            await world.end()
            throw error
        }
        await world.end()
        return result
    }
}

/// The report and events of a test.
package struct TestResult: Sendable {
    package var report: FlowReport
    package var events: [FlowEvent]
}
