import Bindings
import Glibc
import Lua
import PushLab
import PushModel
import PushRuntime

/// Runs `pushhost test` once: finds the specs, runs their tests, reports them in order and returns the exit code.
struct TestSession {
    let command: TestCommand
    private let module: any FlowModule
    /// Records which files are read, for `--watch`; nil without it.
    private let sources: SourceFiles?
    /// Measures how long tests take.
    private let clock: any HubClock
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(command: TestCommand, module: any FlowModule, sources: SourceFiles? = nil, clock: any HubClock = SteadyClock.shared) {
        self.command = command
        self.module = module
        self.sources = sources
        self.clock = clock
    }

    private var selection: TestSelection {
        let failed = command.lastFailed ? FailedTests.read() : FailedTests()
        return TestSelection(
            filter: command.filter, shard: command.shard.flatMap(TestSelection.Shard.init), failed: failed.isEmpty ? nil : failed,
            order: command.randomize)
    }

    private var pool: WorkerPool { WorkerPool(size: command.jobs ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))) }

    /// Runs the tests. Cancelling the task cancels them, as an interruption does.
    func run(_ interruption: Interruption) async -> SessionResult {
        let selection = selection
        let specs: [Spec]
        let wire: RehearsalWire
        do throws(PushError) {
            wire = try command.wire.opened(worlds: pool.size)
            let found = try await interruption.cancelling { [self] () async throws(PushError) -> [Spec] in try await scripts() }
            specs = selection.ordered(found, for: "specs")
        } catch {
            if error.code == "cancelled", !command.json {
                return SessionResult(status: ExitStatus.interrupted, reason: Task.isCancelled ? .cancelled : .done)
            }
            // With `--watch`, a later change may add specs, so this does not end the loop.
            return refuse(error, error.code == "test.no_specs" ? .done : .badCommandLine)
        }
        let work = Task { await results(of: specs, over: wire, selection) }
        interruption.onInterrupt { work.cancel() }
        output.onOutputClosed { work.cancel() }
        let (files, wasStopped) = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        let isCancelled = Task.isCancelled
        if output.isOutputClosed, !interruption.happened, !isCancelled {
            return SessionResult(status: ExitStatus.outputClosed, reason: .unwritable)
        }
        var summary = TestSummary(files, wasInterrupted: work.isCancelled)
        (summary.wasStopped, summary.order) = (wasStopped, command.randomize)
        var end = SessionResult(status: summary.status, reason: isCancelled ? .cancelled : .done)
        if files.allSatisfy({ $0.matching == 0 }), let filter = command.filter, end.status == ExitStatus.pass {
            return refuse(
                PushError(
                    "test.no_match", "no test name contains \"\(filter)\"",
                    hint: Self.inventory(files)))
        }
        if !work.isCancelled {
            var failed = FailedTests.read()
            failed.enter(files)
            failed.write()
            do throws(PushError) {
                try settleSnapshots(of: specs, after: files, &summary)
            } catch {
                _ = reportError(error)
                summary.isUnwritten = true
                end = SessionResult(status: summary.status)
            }
        }
        // An interrupted run writes no report, because partial results would look complete.
        if let path = command.junit, !work.isCancelled {
            do throws(PushError) {
                try ResultFile.write(JUnitReport(files, summary).bytes, to: path)
            } catch {
                _ = reportError(error)
                summary.isUnwritten = true
                end = SessionResult(status: summary.status, reason: .badCommandLine)
            }
        }
        finish(files, summary)
        if !output.finish(reportingTo: errors) { end = SessionResult(status: max(end.status, ExitStatus.failed), reason: .unwritable) }
        if output.isOutputClosed { end.reason = .unwritable }
        return end
    }

    /// Writes the snapshots with `--update`, and otherwise looks for unused ones.
    private func settleSnapshots(of specs: [Spec], after files: [TestFile], _ summary: inout TestSummary) throws(PushError) {
        for (spec, file) in zip(specs, files) {
            guard command.update else {
                summary.unusedSnapshots += spec.snapshots.unused(after: file).map { "\(spec.snapshots.path) › \($0)" }
                continue
            }
            var updated = spec.snapshots
            updated.update(after: file)
            guard updated != spec.snapshots else { continue }
            try updated.write()
            summary.writtenSnapshots.append(updated.path)
        }
    }

    /// Describes the tests that exist, such as `there are 2 tests in 1 spec, such as "adds up"`.
    private static func inventory(_ files: [TestFile]) -> String {
        let count = files.reduce(0) { $0 + $1.declared }
        let example = files.lazy.compactMap(\.example).first.map { ", such as \"\($0)\"" } ?? ""
        return "there \(count == 1 ? "is 1 test" : "are \(count) tests") in \(files.count) spec\(files.count == 1 ? "" : "s")\(example)"
    }

    /// A spec; `failure` says why it could not be read.
    private struct Spec: Sendable {
        var script: FlowScript
        var snapshots: SnapshotFile
        var failure: PushError?
    }

    private func scripts() async throws(PushError) -> [Spec] {
        let paths = try ScriptFinder.files(under: command.path.isEmpty ? ["."] : command.path, suffix: "_spec.lua")
        guard !paths.isEmpty else {
            throw PushError(
                "test.no_specs", "no *_spec.lua file below \(command.path.first ?? "the working directory")",
                hint: "create a project with a first spec: pushhost init")
        }
        var specs: [Spec] = []
        for path in paths {
            do throws(PushError) {
                let script = try await ProjectScripts(sources: sources).script(at: path, within: command.timeout)
                specs.append(Spec(script: script, snapshots: try SnapshotFile.read(of: path)))
            } catch {
                guard error.code != "cancelled" else { throw error }
                let script = FlowScript(name: path, source: [], version: "000000")
                specs.append(Spec(script: script, snapshots: SnapshotFile(of: path), failure: error))
            }
        }
        return specs
    }

    /// Runs the tests in parallel, up to `--jobs` at a time, and reports them in order. `wasStopped`: a failure ended the run early.
    private func results(of specs: [Spec], over wire: RehearsalWire, _ selection: TestSelection) async -> (
        files: [TestFile], wasStopped: Bool
    ) {
        let text = TestTextReport(output: output)
        let runner = SpecRunner(
            limits: command.budgets.limits(wall: command.timeout),
            seed: command.seed, scripts: ProjectScripts(sources: sources), clock: clock,
            world: { [seed = command.seed, module, sources, wire] (thread, script) throws(PushError) in
                let secrets = try ProjectSecrets(demoFolder: script.folder, sources: sources)
                return try EmbeddedWorld(seed: seed, thread: thread, module: module, secrets: secrets, wire: wire).world
            })
        let isText = !command.tap && !command.json
        if isText, command.lastFailed, selection.failed == nil { text.note("no failed tests of an earlier run; all tests are run") }
        let found = await collect(specs, runner, selection)
        var files = found.map(\.file)
        let work = found.indices.flatMap { index in found[index].chosen.map { Job(file: index, number: $0.number, test: $0.test) } }
        var begun = -1
        var wasStopped = false
        /// Starts the report of each file up to this one, so that unreadable files appear in their order.
        func begin(upTo index: Int) {
            while begun < index, begun + 1 < files.count {
                begun += 1
                guard isText else { continue }
                if files[begun].failure != nil {
                    text.take(files[begun].failure, of: files[begun].script)
                } else if !found[begun].chosen.isEmpty {
                    text.begin(files[begun].script)
                }
            }
        }
        await pool.inOrder(work) { job -> (Job, TestRecord) in
            guard !job.test.isPending else { return (job, TestRecord(test: job.test)) }
            let began = clock.now
            var record: TestRecord
            do throws(PushError) {
                let spec = specs[job.file]
                let snapshots = SnapshotBook.Source(stored: spec.snapshots.texts, isUpdating: command.update)
                record = TestRecord(
                    test: job.test, result: try await runner.run(job.test, number: job.number, of: spec.script, snapshots: snapshots))
            } catch {
                record = TestRecord(test: job.test, refusal: LuaError(error))
            }
            record.realDuration = clock.now - began
            return (job, record)
        } report: { job, record in
            guard !Task.isCancelled else { return true }
            begin(upTo: job.file)
            files[job.file].records.append(record)
            if isText { text.take(record, of: files[job.file].script) }
            wasStopped = command.bail && record.status == .failed
            return !wasStopped
        }
        if wasStopped {
            // Without the specs after it, which are not in the text either.
            files.removeSubrange((begun + 1)...)
        } else if !Task.isCancelled {
            begin(upTo: files.count - 1)
            wasStopped = found.count < specs.count
        }
        return (files, wasStopped)
    }

    /// A test to run: the index of its file, its number in the file, and the test.
    private struct Job: Sendable {
        var file: Int
        var number: Int
        var test: TestCase
    }

    /// The tests that each file declares, and those to run. With `--bail`, ends after the first spec that cannot be run.
    private func collect(_ specs: [Spec], _ runner: SpecRunner, _ selection: TestSelection) async -> [(
        file: TestFile, chosen: [(number: Int, test: TestCase)]
    )] {
        var found: [(file: TestFile, chosen: [(number: Int, test: TestCase)])] = []
        for spec in specs where !Task.isCancelled && !(command.bail && found.last?.file.failure != nil) {
            var file = TestFile(script: spec.script)
            var chosen: [(number: Int, test: TestCase)] = []
            do {
                if let failure = spec.failure { throw failure }
                let tests = try await runner.tests(of: spec.script)
                file.declared = tests.count
                file.example = tests.first?.fullName
                file.declaredNames = Set(tests.map(\.fullName))
                file.matching = tests.count(where: selection.matchesFilter)
                chosen = selection.chosen(from: tests, of: spec.script.name)
            } catch {
                file.failure =
                    (error as? LuaError) ?? (error as? PushError).map(LuaError.init)
                    ?? LuaError(kind: .failure, code: "host.error", message: "\(error)")
            }
            found.append((file, chosen))
        }
        return found
    }

    private func finish(_ files: [TestFile], _ summary: TestSummary) {
        let slowest = SlowTest.longest(of: files, count: command.slowest ?? 0)
        if command.tap {
            for line in TAPReport(files, summary, slowest: slowest).lines { output.line(line) }
        } else if command.json {
            output.line(TestJSONReport(files, summary, seed: command.seed, slowest: slowest).document.text(pretty: true))
        } else {
            TestTextReport(output: output).finish(summary, slowest: slowest)
        }
    }

    private func refuse(_ error: PushError, _ reason: SessionResult.Reason = .done) -> SessionResult {
        if command.json {
            output.line(TestJSONReport.refusal(LuaError(error), exitCode: ExitStatus.usage).text(pretty: true))
            _ = output.finish()
            return SessionResult(status: ExitStatus.usage, reason: reason)
        }
        return SessionResult(status: reportError(error), reason: reason)
    }

    private func reportError(_ error: PushError) -> Int32 {
        let palette = Palette(isOn: errors.hasColour)
        for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).lines { errors.line(line) }
        _ = errors.finish()
        return ExitStatus.usage
    }
}
