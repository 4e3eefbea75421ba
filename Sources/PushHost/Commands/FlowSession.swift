import Bindings
import Glibc
import Lua
import PushHub
import PushLab
import PushModel
import PushRuntime
import PushServer

/// Runs `pushhost run` once: reads the script, sets up the target, runs the flow, prints the report and returns the exit code.
struct FlowSession {
    let command: RunCommand
    private let program: HostProgram
    /// Whether each send becomes a plan instead of being delivered.
    let isPlanned: Bool
    /// Maximum number of devices that each plan lists.
    private let deviceLimit: Int
    /// Records which files are read, for `--watch`; nil without it.
    private let sources: SourceFiles?
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)
    /// The run's id. Fixed for the embedded target, where the same script and seed must print the same output; random elsewhere.
    private let run: String

    init(command: RunCommand, program: HostProgram, sources: SourceFiles? = nil, isPlanned: Bool = false, deviceLimit: Int = 0) {
        self.command = command
        self.program = program
        (self.isPlanned, self.deviceLimit) = (isPlanned, deviceLimit)
        self.sources = sources
        run = RequestedTarget.isEmbedded(command.target) ? "r-0001" : "r-\(SystemRandom().hex(6))"
    }

    /// Runs the flow. Cancelling the task cancels the flow, as an interruption does.
    func run(_ interruption: Interruption) async -> SessionResult {
        let script: FlowScript
        let options: [(name: String, value: String?)]
        let plan: RequestedTarget
        do {
            options = try CommandLineSplit.options(command.flowOptions)
            script = try await interruption.cancelling { [command, program, sources] () async throws(PushError) -> FlowScript in
                let plugins = try? SettingsSource(path: nil, flags: [:]).read().settings.plugins
                let file = try await PluginFlows.path(
                    command.file, plugins: plugins ?? ServerSettings().plugins, of: program)
                return try await ProjectScripts(sources: sources).script(at: file, within: command.timeout)
            }
            // A flow's help does not depend on the target.
            plan = command.flowHelp ? .here : try RequestedTarget(command.target)
        } catch let error as CommandLineSplit.UnexpectedArgument {
            return refuse(
                "usage.argument", "unexpected argument \"\(error.text)\"", "write the flow's options as --name value", .badCommandLine)
        } catch let error as PushError {
            return refuse(error)
        } catch {
            return refuse("usage.argument", "\(error)", nil)
        }
        let thread = LuaThread(name: "lua")
        defer { thread.stop() }
        let printing = RunPrinter(
            header: TextReport.Header(
                flow: script.title, target: plan.name, seed: command.seed, version: script.version),
            output: output, showsRealTime: command.timings, isJSON: command.json, flushesEachEvent: !plan.isRehearsal)
        var limits = RunAccount.Limits(command.budgets.limits(wall: command.timeout))
        if command.trace || command.json { limits.output = Self.fullOutput }
        let account = RunAccount(limits)
        let environment: FlowEnvironment
        do throws(PushError) {
            environment = try await interruption.cancelling { [self] () async throws(PushError) in
                try await FlowEnvironment(
                    plan,
                    for: FlowEnvironment.Run(
                        id: run, module: program.registry, script: script, command: command, thread: thread, sources: sources,
                        trace: command.trace ? Self.tracing(printing, account) : nil),
                    errors, printing, planningFor: isPlanned ? deviceLimit : nil)
            }
        } catch {
            return refuse(error, isOfTarget: true)
        }
        if environment.hasLabSession {
            interruption.onSecond { [errors] in Self.warn(of: nil, on: errors) }
        }
        var runner = FlowRunner(
            world: environment.world, thread: thread, limits: command.budgets.limits(wall: command.timeout),
            seed: command.seed, scripts: ProjectScripts(sources: sources))
        if command.json { runner.detail = .full }
        let end = await run(
            script, options, runner, account, printing, interruption, planning: environment.planning, isRehearsal: plan.isRehearsal)
        let notice = Task { [errors] in
            try await Task.sleep(for: .seconds(1))
            if environment.hasLabSession {
                errors.note("the lab is ending the run's session, which may take 15 seconds; press Ctrl-C to stop waiting")
            }
        }
        // Only the end of a lab session may take long. Elsewhere, Ctrl-C after the report must not replace its exit code.
        let failure = await environment.hasLabSession ? interruption.ending { await environment.close() } : environment.close()
        notice.cancel()
        if let failure { Self.warn(of: failure, on: errors) }
        return end
    }

    /// Limit on the output in bytes for reports that list everything. JSON lists each send with its devices where text only counts them
    /// (970 bytes per user of `scripts/crowd.lua`), and a trace lists each exchange. With the limit for text, flows that pass as text would
    /// fail as JSON.
    private static let fullOutput = 64 << 20

    /// Prints trace events and counts them towards the limit on output.
    private static func tracing(_ printing: RunPrinter, _ account: RunAccount) -> @Sendable (FlowEvent) -> Void {
        { event in if account.admit(.output, event.traceSize) { printing.take(event) } }
    }

    /// Warns that the lab may not have ended the run's session.
    private static func warn(of failure: PushError?, on errors: Output) {
        let (code, why) = (failure.map { "[\($0.code)]" } ?? "", failure.map { ": \($0.message.printable)" } ?? "")
        errors.line("warning\(code): the lab may not have ended the run's session\(why)")
        errors.line("  help      nothing to do: a lab that is running ends the session within two minutes")
        _ = errors.finish()
    }

    /// How long after the run's time limit to wait for the target's last answers.
    private static let lastAnswerTimeout: Duration = .seconds(3)

    private func run(
        _ script: FlowScript, _ options: [(name: String, value: String?)], _ runner: FlowRunner, _ account: RunAccount,
        _ printing: RunPrinter, _ interruption: Interruption, planning: PlanningHub?, isRehearsal: Bool
    ) async -> SessionResult {
        let text = printing.text
        if command.flowHelp { return SessionResult(status: await help(script, runner)) }
        if command.tutorialMode { printing.take(.warning(.tutorialMode)) }
        let clock = ContinuousClock()
        let began = clock.now
        // The time limit starts here; confirmations before the run do not count.
        account.renew()
        let task = Task {
            await runner.run(script, run: run, parameters: FlowParameters(given: options), account: account, events: printing.take)
        }
        interruption.onInterrupt { task.cancel() }
        output.onOutputClosed { task.cancel() }
        // Real time after which to stop waiting for a target on another machine.
        let longest = isRehearsal ? nil : command.timeout.map { $0 + Self.lastAnswerTimeout }
        let deadline = RealDeadline(after: longest) { task.cancel() }
        // A run that waits for a simulated connection does not notice its time limit, so the connections are closed then.
        let exchangeDeadline = RealDeadline(after: isRehearsal ? command.timeout : nil) {
            runner.world.connections?.shortenTimeouts(permanently: true)
        }
        let progress = Task { [output] in
            guard !command.json, output.isTerminal else { return }
            try await Task.sleep(for: .seconds(1))
            text.begin()
            while true {
                output.progress(text.progressLine(seconds: Int((clock.now - began).components.seconds)))
                try await Task.sleep(for: .milliseconds(250))
            }
        }
        let report = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        deadline.callOff()
        exchangeDeadline.callOff()
        let isCancelled = Task.isCancelled
        progress.cancel()
        output.eraseProgress()
        if output.isOutputClosed, report.wasCancelled, !interruption.happened {
            return SessionResult(status: ExitStatus.outputClosed, reason: .unwritable)
        }
        if deadline.hasPassed { printing.take(.warning(.targetTimedOut)) }
        let outcome = Outcome(
            report, wasInterrupted: interruption.happened || isCancelled, failOnNoTarget: command.failOnNoTarget,
            isElsewhere: !isRehearsal)
        if command.json {
            let document = printing.json.document(
                report, header: printing.header, run: run, verdict: outcome.word, exitCode: outcome.status, error: outcome.error,
                isTracing: command.trace)
            output.line(FlowPlans(planning)?.added(to: document).text(pretty: true) ?? document.text(pretty: true))
        } else {
            if outcome.status != ExitStatus.usage { text.begin() }
            for line in FlowPlans(planning)?.lines(Palette(isOn: output.hasColour)) ?? [] { output.line(line) }
            _ = output.finish()
            explain(report, outcome, script)
            if outcome.status != ExitStatus.usage {
                text.finish(report, verdict: outcome.verdict, isVirtual: runner.world.target.isSimulated)
            }
            if command.timings { output.line("real \((clock.now - began).short)") }
        }
        if !finishOutput() { return SessionResult(status: max(outcome.status, ExitStatus.failed), reason: .unwritable) }
        return SessionResult(
            status: outcome.status, reason: output.isOutputClosed ? .unwritable : isCancelled ? .cancelled : outcome.reason)
    }

    private func finishOutput() -> Bool { output.finish(reportingTo: errors) }

    /// Prints the flow's help: its first comment and its parameters.
    private func help(_ script: FlowScript, _ runner: FlowRunner) async -> Int32 {
        do {
            let declaration = try await runner.declaration(of: script)
            for line in FlowHelp(script: script, declaration: declaration).lines { output.line(line) }
            return finishOutput() ? ExitStatus.pass : ExitStatus.failed
        } catch {
            let error = (error as? LuaError) ?? LuaError(kind: .failure, code: "host.error", message: "\(error)")
            let palette = Palette(isOn: errors.hasColour)
            for line in Diagnostic(error, source: script.source, scriptName: script.name, palette: palette).lines {
                errors.line(line)
            }
            _ = errors.finish()
            return ExitStatus.script
        }
    }

    /// Prints each failure with its source line to standard error.
    private func explain(_ report: FlowReport, _ outcome: Outcome, _ script: FlowScript) {
        let palette = Palette(isOn: errors.hasColour)
        func show(_ error: LuaError) {
            let diagnostic = Diagnostic(error, source: script.source, scriptName: script.name, palette: palette)
            for line in diagnostic.lines { errors.line(line) }
        }
        for failure in report.expectations.failures {
            if let error = outcome.error, error.code == "expect.failed", error.message == failure.message,
                error.location == failure.location
            {
                continue
            }
            var error = LuaError(kind: .failure, code: "expect.failed", message: failure.message)
            error.location = failure.location
            error.annotations = ["run": run, "script": script.version]
            show(error)
        }
        if let error = outcome.error, outcome.status != ExitStatus.interrupted { show(error) }
        _ = errors.finish()
    }

    /// Reports an error from before the run, such as a script that cannot be read.
    /// - Parameter isOfTarget: whether the target may be the cause, which decides the exit code.
    private func refuse(_ error: PushError, isOfTarget: Bool = false) -> SessionResult {
        let reason: SessionResult.Reason = Task.isCancelled ? .cancelled : .done
        switch error.code {
        case "cancelled" where !command.json: return SessionResult(status: ExitStatus.interrupted, reason: reason)
        case "cancelled": return refuse(error.code, error.message, error.hint, reason, status: ExitStatus.interrupted)
        case "budget.wall": return refuse(error.code, error.message, error.hint, reason, status: ExitStatus.script)
        default:
            let isAnswer = error.status != nil && !error.code.hasPrefix("usage.") && !error.code.hasPrefix("settings.")
            let isRefused = isAnswer || ErrorDescription.exitCode(of: LuaError(error)) == ExitStatus.target
            return refuse(LuaError(error), status: isOfTarget && isRefused ? ExitStatus.target : ExitStatus.usage)
        }
    }

    /// Reports an error in the command line, a file or the settings; nothing has run.
    private func refuse(
        _ code: String, _ message: String, _ hint: String?, _ reason: SessionResult.Reason = .done, status: Int32 = ExitStatus.usage
    ) -> SessionResult {
        var error = LuaError(kind: code == "cancelled" ? .cancelled : .failure, code: code, message: message)
        error.hint = hint
        return refuse(error, reason, status: status)
    }

    private func refuse(_ error: LuaError, _ reason: SessionResult.Reason = .done, status: Int32) -> SessionResult {
        if command.json {
            output.line(JSONReport.refusal(error, file: command.file, exitCode: status).text(pretty: true))
            _ = output.finish()
        } else {
            let palette = Palette(isOn: errors.hasColour)
            for line in Diagnostic(error, source: [], scriptName: "", palette: palette).lines { errors.line(line) }
            _ = errors.finish()
        }
        return SessionResult(status: status, reason: reason)
    }
}

/// The verdict on a run, and its exit code.
private struct Outcome {
    var status: Int32
    var verdict: TextReport.Verdict
    var error: LuaError?

    /// - Parameter isElsewhere: whether the target is on another machine, so that its failure may be the cause.
    init(_ report: FlowReport, wasInterrupted: Bool, failOnNoTarget: Bool, isElsewhere: Bool) {
        switch report.verdict {
        case .passed:
            status = failOnNoTarget && report.sends.noTargets > 0 ? ExitStatus.noTarget : ExitStatus.pass
            verdict = status == ExitStatus.pass ? .pass : .fail
        case .failed:
            status = ExitStatus.failed
            verdict = .fail
        case .raised(let error):
            self.error = error
            // A recipient with too many secure payloads is the flow's error on every target.
            let isTargets = isElsewhere && error.status.map { $0 == 429 || $0 >= 500 } == true && error.code != "secure.too_many"
            status = isTargets ? ExitStatus.target : ErrorDescription.exitCode(of: error)
            verdict = status == ExitStatus.failed ? .fail : .error
        }
        if wasInterrupted {
            status = ExitStatus.interrupted
            verdict = .interrupted
        }
    }

    /// With `--watch`, options that do not match the script's parameters end the loop if they occur in the first run.
    var reason: SessionResult.Reason {
        guard status == ExitStatus.usage, let code = error?.code else { return .done }
        return ["usage.option", "usage.missing_option"].contains(code) ? .badCommandLine : .done
    }

    var word: String {
        switch verdict {
        case .pass: "pass"
        case .fail: "fail"
        case .error: "error"
        case .interrupted: "interrupted"
        }
    }
}

extension FlowWarning {
    /// Warns that the time limit passed before the target had reported the end of the run.
    fileprivate static let targetTimedOut = FlowWarning(
        code: "target.timeout",
        message: "the target did not respond before the time limit; the last sends and notifications may be missing in this report",
        near: [], location: nil)
}

extension FlowReport {
    fileprivate var wasCancelled: Bool { if case .raised(let error) = verdict { error.kind == .cancelled } else { false } }
}
