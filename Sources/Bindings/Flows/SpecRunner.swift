package import Lua
package import PushModel

/// Runs the tests of specs, each with its own world, Lua state and thread.
package struct SpecRunner: Sendable {
    package typealias WorldMaker = @Sendable (LuaThread, FlowScript) throws(PushError) -> FlowWorld

    private let limits: LuaLimits
    private let seed: UInt64
    private let scripts: any ScriptLibrary
    private let makeWorld: WorldMaker
    /// Measures the real time of properties; nil sets them no limit of their own.
    private let clock: (any HubClock)?

    package init(
        limits: LuaLimits, seed: UInt64, scripts: any ScriptLibrary, clock: (any HubClock)? = nil, world: @escaping WorldMaker
    ) {
        self.limits = limits
        self.seed = seed
        self.scripts = scripts
        self.clock = clock
        makeWorld = world
    }

    /// The tests that a spec declares. Throws what the file raises outside of its tests.
    package func tests(of script: FlowScript) async throws -> [TestCase] {
        try await onThread(script) { runner, events in
            try await runner.tests(of: script) { events.append($0) }
        }
    }

    /// Runs the test with this number in file order, from 1. Throws `test.unstable` if another test is found there, because the file
    /// declares its tests in varying order. A property is run once for each of its cases.
    ///
    /// - Parameter snapshots: The snapshots of the spec; nil lets all comparisons with them hold.
    package func run(
        _ test: TestCase, number: Int, of script: FlowScript, snapshots: SnapshotBook.Source? = nil
    ) async throws(PushError) -> TestResult {
        guard let property = test.property else {
            return try await run(test, number: number, of: script, draws: nil, snapshots: snapshots.map(SnapshotBook.init))
        }
        let clock = clock?.steady
        let end = clock.flatMap { clock in limits.wall.map { clock.now + $0 } }
        let search = PropertySearch<TestResult>(limits: property, seed: seed, name: test.fullName) {
            guard !Task.isCancelled, let clock, let end else { return !Task.isCancelled }
            return clock.now < end
        } add: {
            $1.adding(to: $0)
        } run: { draws throws(PushError) in
            let result = try await run(
                test, number: number, of: script, draws: draws, snapshots: snapshots.map(SnapshotBook.init))
            return PropertySearch<TestResult>.Attempt(result: result, end: result.propertyEnd)
        }
        return TestResult(try await search.outcome(), of: property, seed: seed, limit: limits.wall)
    }

    private func run(
        _ test: TestCase, number: Int, of script: FlowScript, draws: PropertyDraws?, snapshots: SnapshotBook?
    ) async throws(PushError) -> TestResult {
        do {
            return try await onThread(script) { runner, events in
                let (report, found) = await runner.run(test, number: number, of: script, draws: draws, snapshots: snapshots) {
                    events.append($0)
                }
                guard found == test.fullName || report.hasRaised else { throw Self.unstable(test, found) }
                return TestResult(report: report, events: events.all, snapshots: snapshots?.seen ?? [:])
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
    /// The texts that the test compared with snapshots, by key.
    package var snapshots: [String: String] = [:]
    /// Number of cases of a property that were run without a failure.
    package var cases: Int?
    /// The failing case of a property, as text that follows the message of the failure.
    package var finding: String?
}

extension TestResult {
    /// The end of a case of a property.
    fileprivate var propertyEnd: PropertySearch<TestResult>.End {
        switch report.verdict {
        case .raised(let error) where error.code == "test.discarded": .discarded
        case .passed: .held
        case .failed, .raised:
            .failed(
                report.expectations.failures.first.map { PropertySearch.Failure(code: "expect.failed", location: $0.location) }
                    ?? report.verdict.error.map { PropertySearch.Failure(code: $0.code, location: $0.location) }
                    ?? PropertySearch.Failure(code: "expect.failed"))
        }
    }

    /// The result of a property: that of its smallest failing case, or the sum over all cases.
    fileprivate init(_ outcome: PropertySearch<TestResult>.Outcome, of property: PropertyLimits, seed: UInt64, limit: Duration?) {
        switch outcome {
        case .held(let result):
            self = result
            cases = property.cases
        case .late(let result, let cases):
            self = result
            report.verdict = .raised(
                LuaError(
                    kind: .budget, code: "budget.wall",
                    message: "the property was tried with \(cases) of \(property.cases) cases in the time limit of a test",
                    hint: "give it fewer cases: { cases = \(max(1, cases / 2)) }, or raise --timeout"))
        case .starved(let result, let cases):
            self = result
            finding = "only \(cases) of \(property.cases) cases were suitable"
        case .failed(let finding):
            self = finding.result
            let origin =
                finding.example.map { "examples[\($0)]" }
                ?? "case \(finding.cases) of \(property.cases), shrunk \(finding.shrinks) times, with --seed \(seed)"
            self.finding = "in \(origin):\n\(finding.text)"
        }
    }

    /// This result with the expectations of an earlier one added.
    fileprivate func adding(to before: TestResult) -> TestResult {
        var sum = self
        sum.report.expectations.count += before.report.expectations.count
        return sum
    }
}

extension FlowReport.Verdict {
    fileprivate var error: LuaError? { if case .raised(let error) = self { error } else { nil } }
}
