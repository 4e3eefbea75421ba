import Bindings
import Glibc
import Lua
import PushCore

/// One `pushhost run`: reads the script, makes the world, runs, reports, decides the exit code.
struct FlowSession {
    let command: RunCommand
    /// Whether nothing is sent, and each send becomes a plan.
    let isPlanned: Bool
    /// How many devices each plan tells one by one.
    private let told: Int
    /// The files that are read, where somebody wants to know.
    private let sources: SourceFiles?
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)
    /// In a rehearsal the same script and seed give the same output, so there the id is not drawn by chance.
    private let run: String

    init(command: RunCommand, sources: SourceFiles? = nil, isPlanned: Bool = false, told: Int = 0) {
        self.command = command
        (self.isPlanned, self.told) = (isPlanned, told)
        self.sources = sources
        run = TargetPlan.isEmbedded(command.target) ? "r-0001" : "r-\(SystemRandom().hex(6))"
    }

    /// Cancelling the task cancels the flow, as an interruption does.
    func run(_ interruption: Interruption) async -> SessionEnd {
        let script: FlowScript
        let options: [(name: String, value: String?)]
        let plan: TargetPlan
        do {
            options = try CommandLineSplit.options(command.flowOptions)
            script = try await interruption.cancelling { [command, sources] () async throws(PushError) -> FlowScript in
                let plugins = try? SettingsSource(path: nil, flags: [:]).read().settings.plugins
                let file = try await PluginFlows.path(command.file, plugins: plugins ?? ServerSettings().plugins)
                return try await ProjectScripts(sources: sources).script(at: file, within: command.timeout)
            }
            // What a flow says of itself it says anywhere.
            plan = command.flowHelp ? .here : try TargetPlan(command.target)
        } catch let error as CommandLineSplit.StrayArgument {
            return refuse(
                "usage.argument", "\"\(error.text)\" is no option", "the flow's options look like --name value", .badCommandLine)
        } catch let error as PushError {
            return refuse(error)
        } catch {
            return refuse("usage.argument", "\(error)", nil)
        }
        let thread = LuaThread(name: "lua")
        defer { thread.stop() }
        let printing = RunPrinting(
            header: TextReport.Header(
                flow: script.title, target: plan.name, seed: command.seed, version: script.version),
            output: output, hasTimings: command.timings, isJSON: command.json, isFollowed: !plan.isRehearsal)
        var limits = RunAccount.Limits(command.budgets.limits(wall: command.timeout))
        if command.trace || command.json { limits.output = Self.fullOutput }
        let account = RunAccount(limits)
        let place: FlowPlace
        do throws(PushError) {
            place = try await interruption.cancelling { [self] () async throws(PushError) in
                try await FlowPlace(
                    plan, for: script, run: run, command, thread, sources, errors, printing,
                    trace: command.trace ? Self.tracing(printing, account) : nil,
                    planningFor: isPlanned ? told : nil)
            }
        } catch {
            return refuse(error, isOfTarget: true)
        }
        if place.isLent {
            interruption.onSecond { [errors] in Self.warn(of: nil, on: errors) }
        }
        var runner = FlowRunner(
            world: place.world, thread: thread, limits: command.budgets.limits(wall: command.timeout),
            seed: command.seed, scripts: ProjectScripts(sources: sources))
        if command.json { runner.detail = .full }
        let end = await run(
            script, options, runner, account, printing, interruption, planning: place.planning, isRehearsal: plan.isRehearsal,
            longest: plan.isRehearsal ? nil : command.timeout.map { $0 + Self.respite })
        let notice = Task { [errors] in
            try await Task.sleep(for: .seconds(1))
            if place.isLent { errors.note("the lab takes back what it lent, which may take a quarter of a minute; Ctrl-C ends at once") }
        }
        let failure = await interruption.ending { await place.close() }
        notice.cancel()
        if let failure { Self.warn(of: failure, on: errors) }
        return end
    }

    /// Bytes of a report that lists everything: JSON has each send with its devices where text counts them, 970 bytes for each user of
    /// `scripts/crowd.lua`, and a trace has each exchange. With the limit of text, flows that pass in text would fail as JSON.
    private static let fullOutput = 64 << 20

    /// A trace is output, too.
    private static func tracing(_ printing: RunPrinting, _ account: RunAccount) -> @Sendable (FlowEvent) -> Void {
        { event in if account.admit(.output, event.traceSize) { printing.take(event) } }
    }

    /// Nobody knows whether the lab has taken its session back.
    private static func warn(of failure: PushError?, on errors: Output) {
        let (code, why) = (failure.map { "[\($0.code)]" } ?? "", failure.map { ": \($0.message.printable)" } ?? "")
        errors.line("warning\(code): the lab may still have what it lent to the run\(why)")
        errors.line("  help      it takes it back by itself, at the latest two minutes after it can")
        _ = errors.finish()
    }

    /// How long the last answers of a target are waited for when the time of the run is over.
    private static let respite: Duration = .seconds(3)

    /// - Parameter longest: when it is given up to wait for the target, in real time; nil for no end.
    private func run(
        _ script: FlowScript, _ options: [(name: String, value: String?)], _ runner: FlowRunner, _ account: RunAccount,
        _ printing: RunPrinting,
        _ interruption: Interruption, planning: PlanningHub?, isRehearsal: Bool, longest: Duration?
    ) async -> SessionEnd {
        let text = printing.text
        if command.flowHelp { return SessionEnd(status: await help(script, runner)) }
        if command.tutorialMode { printing.take(.warning(.tutorialMode)) }
        let clock = ContinuousClock()
        let began = clock.now
        // What was asked before the run begins takes none of its time.
        account.renew()
        let task = Task {
            await runner.run(script, run: run, parameters: FlowParameters(given: options), account: account, events: printing.take)
        }
        interruption.onInterrupt { task.cancel() }
        output.onLostReader { task.cancel() }
        let deadline = RealDeadline(after: longest) { task.cancel() }
        // Whoever waits for the machine does not see that the time is over.
        let hurry = RealDeadline(after: isRehearsal ? command.timeout : nil) { runner.world.connections?.hurry(forGood: true) }
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
        hurry.callOff()
        let isCancelled = Task.isCancelled
        progress.cancel()
        output.eraseProgress()
        if output.hasLostReader, report.wasCancelled, !interruption.happened {
            return SessionEnd(status: ExitStatus.lostReader, reason: .unwritable)
        }
        if deadline.hasPassed { printing.take(.warning(.impatience)) }
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
        if !finishOutput() { return SessionEnd(status: max(outcome.status, ExitStatus.failed), reason: .unwritable) }
        return SessionEnd(status: outcome.status, reason: output.hasLostReader ? .unwritable : isCancelled ? .cancelled : outcome.reason)
    }

    private func finishOutput() -> Bool { output.finish(reportingTo: errors) }

    /// What the flow says of itself: its first comment and its parameters.
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

    /// What failed, on standard error, each with its line.
    private func explain(_ report: FlowReport, _ outcome: Outcome, _ script: FlowScript) {
        let palette = Palette(isOn: errors.hasColour)
        func show(_ error: LuaError) {
            let diagnostic = Diagnostic(error, source: script.source, scriptName: script.name, palette: palette)
            for line in diagnostic.lines { errors.line(line) }
        }
        for failure in report.failedExpectations {
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

    /// The script could not be read.
    /// - Parameter isOfTarget: whether it came up where a target was reached.
    private func refuse(_ error: PushError, isOfTarget: Bool = false) -> SessionEnd {
        let reason: SessionEnd.Reason = Task.isCancelled ? .cancelled : .done
        switch error.code {
        case "cancelled" where !command.json: return SessionEnd(status: ExitStatus.interrupted, reason: reason)
        case "cancelled": return refuse(error.code, error.message, error.hint, reason, status: ExitStatus.interrupted)
        case "budget.wall": return refuse(error.code, error.message, error.hint, reason, status: ExitStatus.script)
        default:
            let isAnswer = error.status != nil && !error.code.hasPrefix("usage.") && !error.code.hasPrefix("settings.")
            let isRefused = isAnswer || ErrorDescription.exitCode(of: LuaError(error)) == ExitStatus.target
            return refuse(LuaError(error), status: isOfTarget && isRefused ? ExitStatus.target : ExitStatus.usage)
        }
    }

    /// Nothing has run: the file or the settings are at fault.
    private func refuse(
        _ code: String, _ message: String, _ hint: String?, _ reason: SessionEnd.Reason = .done, status: Int32 = ExitStatus.usage
    ) -> SessionEnd {
        var error = LuaError(kind: code == "cancelled" ? .cancelled : .failure, code: code, message: message)
        error.hint = hint
        return refuse(error, reason, status: status)
    }

    private func refuse(_ error: LuaError, _ reason: SessionEnd.Reason = .done, status: Int32) -> SessionEnd {
        if command.json {
            output.line(JSONReport.refusal(error, file: command.file, exitCode: status).text(pretty: true))
            _ = output.finish()
        } else {
            let palette = Palette(isOn: errors.hasColour)
            for line in Diagnostic(error, source: [], scriptName: "", palette: palette).lines { errors.line(line) }
            _ = errors.finish()
        }
        return SessionEnd(status: status, reason: reason)
    }
}

/// The verdict over a run, and the exit code that goes with it.
private struct Outcome {
    var status: Int32
    var verdict: TextReport.Verdict
    var error: LuaError?

    /// - Parameter isElsewhere: whether another machine may be what failed.
    init(_ report: FlowReport, wasInterrupted: Bool, failOnNoTarget: Bool, isElsewhere: Bool) {
        switch report.verdict {
        case .passed:
            status = failOnNoTarget && report.noTargets > 0 ? ExitStatus.noTarget : ExitStatus.pass
            verdict = status == ExitStatus.pass ? .pass : .fail
        case .failed:
            status = ExitStatus.failed
            verdict = .fail
        case .raised(let error):
            self.error = error
            // That an addressee has too many payloads is the flow's matter, wherever it runs.
            let isTargets = isElsewhere && error.status.map { $0 == 429 || $0 >= 500 } == true && error.code != "secure.too_many"
            status = isTargets ? ExitStatus.target : ErrorDescription.exitCode(of: error)
            verdict = status == ExitStatus.failed ? .fail : .error
        }
        if wasInterrupted {
            status = ExitStatus.interrupted
            verdict = .interrupted
        }
    }

    /// An option that the script does not declare may be the next thing that is written into it.
    var reason: SessionEnd.Reason {
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
    /// Of a run whose time was over before the target had told how it ended.
    fileprivate static let impatience = FlowWarning(
        code: "target.timeout",
        message: "the target did not answer in the time of the run: what was sent and shown at the end may be missing here", near: [],
        location: nil)
}

extension FlowReport {
    fileprivate var wasCancelled: Bool { if case .raised(let error) = verdict { error.kind == .cancelled } else { false } }
}

extension FlowScript {
    /// `notify_users` for `scripts/notify_users.lua`.
    var title: String {
        let name = name.split(separator: "/").last.map(String.init) ?? name
        return name.hasSuffix(".lua") ? String(name.dropLast(4)) : name
    }

    var folder: String {
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }
}
