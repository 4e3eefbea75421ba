import Bindings
import Glibc
import Lua
import PushCore

/// One `pushhost test`: finds the specs, runs their tests, reports them in order, decides the exit code.
struct TestSession {
    let command: TestCommand
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(command: TestCommand) {
        self.command = command
    }

    func run() async -> Int32 {
        let specs: [FlowScript]
        do throws(PushError) {
            specs = try scripts()
        } catch {
            return refuse(error)
        }
        let interruption = Interruption()
        let work = Task { await results(of: specs, interruption) }
        interruption.onInterrupt { work.cancel() }
        let files = await work.value
        let summary = TestSummary(files, wasInterrupted: interruption.happened)
        var status = summary.status
        if summary.ran == 0, let filter = command.filter, status == ExitStatus.pass {
            return refuse(
                PushError(
                    "test.no_match", "no test has \"\(filter)\" in its name",
                    hint: "there are \(files.reduce(0) { $0 + $1.declared }) tests in \(specs.count) specs; pushhost test lists them"))
        }
        if let path = command.junit {
            do throws(PushError) {
                try ResultFile.write(JUnitReport(files, summary).bytes, to: path)
            } catch {
                status = max(status, refuse(error))
            }
        }
        finish(files, summary)
        return output.finish(reportingTo: errors) ? status : max(status, ExitStatus.failed)
    }

    private func scripts() throws(PushError) -> [FlowScript] {
        let paths = try ScriptFinder.files(under: command.path.isEmpty ? ["."] : command.path, suffix: "_spec.lua")
        guard !paths.isEmpty else {
            throw PushError(
                "test.no_specs", "there is no file *_spec.lua below \(command.path.first ?? "the working directory")",
                hint: "pushhost init makes a project with a first one")
        }
        var scripts: [FlowScript] = []
        for path in paths { scripts.append(try ScriptFile.read(path)) }
        return scripts
    }

    /// Runs everything, as many tests at a time as there are processors, and reports in the order of the files.
    private func results(of specs: [FlowScript], _ interruption: Interruption) async -> [TestFile] {
        let text = TestTextReport(output: output)
        let runner = SpecRunner(
            limits: LuaLimits(memory: command.memoryLimit << 20, cpu: command.cpuLimit, wall: command.timeout),
            seed: command.seed, scripts: ProjectScripts(),
            world: { [seed = command.seed] (thread, script) throws(PushError) in
                try EmbeddedWorld(seed: seed, thread: thread, secrets: try ProjectSecrets(demoFolder: script.folder)).world
            })
        let crew = WorkCrew(size: command.jobs ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        var files: [TestFile] = []
        for spec in specs where !Task.isCancelled {
            var file = TestFile(script: spec)
            do {
                let tests = try await runner.tests(of: spec)
                file.declared = tests.count
                let chosen = tests.enumerated().filter { fits($0.element) }.map { (number: $0.offset + 1, test: $0.element) }
                if !chosen.isEmpty, !command.tap, !command.json { text.begin(spec) }
                await crew.inOrder(chosen) { number, test -> TestRecord in
                    guard !test.isPending else { return TestRecord(test: test) }
                    do throws(PushError) {
                        return TestRecord(test: test, result: try await runner.run(number, of: spec))
                    } catch {
                        return TestRecord(test: test, refusal: LuaError(error))
                    }
                } report: { record in
                    guard !interruption.happened else { return }
                    file.records.append(record)
                    if !command.tap, !command.json { text.take(record, of: spec) }
                }
            } catch {
                guard !interruption.happened else { break }
                file.failure =
                    (error as? LuaError) ?? (error as? PushError).map(LuaError.init)
                    ?? LuaError(kind: .failure, code: "host.error", message: "\(error)")
                if !command.tap, !command.json { text.take(file.failure, of: spec) }
            }
            files.append(file)
        }
        return files
    }

    private func fits(_ test: TestCase) -> Bool {
        guard let filter = command.filter else { return true }
        return test.fullName.lowercased().contains(filter.lowercased())
    }

    private func finish(_ files: [TestFile], _ summary: TestSummary) {
        if command.tap {
            for line in TAPReport(files, summary).lines { output.line(line) }
        } else if command.json {
            output.line(TestJSONReport(files, summary, seed: command.seed).document.text(pretty: true))
        } else {
            TestTextReport(output: output).finish(summary)
        }
    }

    private func refuse(_ error: PushError) -> Int32 {
        let palette = Palette(isOn: errors.hasColour)
        for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).lines { errors.line(line) }
        _ = errors.finish()
        return ExitStatus.usage
    }
}
