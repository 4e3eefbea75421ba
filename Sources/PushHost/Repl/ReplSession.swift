import ArgumentParser
import Bindings
import Glibc
import Lua
import PushCore
import Synchronization

/// One `pushhost repl`: makes the world, takes lines, runs them, shows what comes of them.
final class ReplSession: Sendable {
    let world: FlowWorld
    let output = Output(descriptor: STDOUT_FILENO)
    let text: TextReport
    private let errors = Output(descriptor: STDERR_FILENO)
    private let lines = Mutex(ReplLines())
    private let hasFailed = Mutex(false)
    private let seed: UInt64
    private let isTutorialMode: Bool
    private let runner: FlowRunner
    /// Somebody types.
    private let isInteractive = isatty(STDIN_FILENO) == 1

    /// Throws what keeps the world from being made: files of secrets that cannot be read.
    private init(_ command: ReplCommand) throws(PushError) {
        seed = command.seed
        isTutorialMode = command.tutorialMode
        let thread = LuaThread(name: "lua")
        let text = TextReport(output: output, header: nil)
        let output = output
        let trace: @Sendable (FlowEvent) -> Void = { event in
            text.take(event)
            output.flush()
        }
        world = try EmbeddedWorld(
            seed: command.seed, thread: thread, secrets: ProjectSecrets(demoFolder: "scripts"),
            isTutorialMode: command.tutorialMode, trace: command.trace ? trace : nil
        ).world
        runner = FlowRunner(
            world: world, thread: thread, limits: command.budgets.limits(), seed: command.seed, scripts: ProjectScripts())
        self.text = text
    }

    /// Runs a session to its end and answers the exit code.
    static func run(_ command: ReplCommand) async -> Int32 {
        do {
            return try await ReplSession(command).run()
        } catch {
            let errors = Output(descriptor: STDERR_FILENO)
            let error = (error as? LuaError) ?? (error as? PushError).map(LuaError.init)
            let shown = error ?? LuaError(kind: .failure, code: "host.error", message: "the session cannot begin")
            for line in Diagnostic(shown, source: [], scriptName: "", palette: Palette(isOn: errors.hasColour)).lines {
                errors.line(line)
            }
            _ = errors.finish()
            return ExitStatus.usage
        }
    }

    private func run() async throws -> Int32 {
        let flow = try await InteractiveFlow(
            runner: runner,
            events: { [self] event in
                text.take(event)
                output.flush()
            }, failures: { [self] in tell($0) })
        let source = source(of: flow)
        let signals = SessionSignals(isInteractive: isInteractive) { source.restore() }
        if isInteractive, output.isTerminal {
            let version = PushHostCommand.configuration.version
            let palette = Palette(isOn: output.hasColour)
            output.line(palette.dim("pushhost \(version) · embedded · seed \(seed) · .help shows what there is, Ctrl-D ends"))
        }
        if isTutorialMode { text.take(.warning(.tutorialMode)) }
        while !signals.areFinal, !output.hasLostReader {
            let (number, isContinued) = lines.withLock { ($0.next, $0.isContinued) }
            let input = await source.next(prompt: "repl:\(number)\(isContinued ? "|" : ">") ")
            switch input {
            case .line(let line):
                guard await take(line, flow, signals) else { return await end(flow, signals) }
            case .interrupted: lines.withLock { $0.close() }
            case .unreadable(let error):
                lines.withLock { $0.skip("") }
                tell(LuaError(error))
            case .end, .broken:
                if case .broken(let error) = input { tell(LuaError(error)) }
                if isContinued { _ = await evaluate(flow, signals, isWhole: true) }
                return await end(flow, signals)
            }
        }
        return await end(flow, signals)
    }

    private func source(of flow: InteractiveFlow) -> any LineSource {
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        guard isInteractive, output.isTerminal, !isDumb else {
            return PlainLines(screen: isInteractive && output.isTerminal ? output : nil)
        }
        return EditedLines(screen: output) { [self] before in
            await flow.completion(of: lines.withLock { $0.chunk } + [before])
        }
    }

    /// False when the line ends the session.
    private func take(_ line: String, _ flow: InteractiveFlow, _ signals: SessionSignals) async -> Bool {
        let isBlank = line.allSatisfy(\.isWhitespace)
        let isContinued = lines.withLock { $0.isContinued }
        if !isContinued, isBlank || line.hasPrefix(".") {
            lines.withLock { $0.skip(line) }
            let goesOn = isBlank ? true : await perform(line)
            output.flush()
            return goesOn
        }
        if isBlank {
            // Nothing more, where more was asked for: it is given up.
            _ = await evaluate(flow, signals, isWhole: true)
            lines.withLock { $0.skip(line) }
        } else {
            lines.withLock { $0.append(line) }
            let answer = await evaluate(flow, signals, isWhole: false)
            if answer != .unfinished { lines.withLock { $0.close() } }
        }
        return true
    }

    private func evaluate(_ flow: InteractiveFlow, _ signals: SessionSignals, isWhole: Bool) async -> InteractiveFlow.Answer {
        let (chunk, first) = lines.withLock { ($0.chunk.joined(separator: "\n"), $0.first) }
        let task = Task { await flow.evaluate(chunk, firstLine: first, isWhole: isWhole) }
        signals.begin { task.cancel() }
        let answer = await task.value
        signals.end()
        if case .value(let value?) = answer {
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                let values = line.split(separator: "\t", omittingEmptySubsequences: false)
                output.line(values.map { String($0).printable }.joined(separator: "\t"))
            }
        }
        output.flush()
        return answer
    }

    private func end(_ flow: InteractiveFlow, _ signals: SessionSignals) async -> Int32 {
        await flow.end()
        let isWritten = output.finish(reportingTo: errors)
        if signals.areFinal { return ExitStatus.interrupted }
        let isFailed = !isWritten || (!isInteractive && hasFailed.withLock { $0 })
        return isFailed ? ExitStatus.failed : ExitStatus.pass
    }

    // MARK: - What failed

    /// Shows an error, with the line of the session where it happened.
    func tell(_ error: LuaError) {
        output.flush()
        let source = lines.withLock { $0.source }
        let diagnostic = Diagnostic(error, source: source, scriptName: "repl", palette: Palette(isOn: errors.hasColour))
        for line in diagnostic.lines { errors.line(line) }
        errors.flush()
        hasFailed.withLock { $0 = true }
    }
}

/// What Ctrl-C and SIGTERM mean to a session. With somebody at a terminal Ctrl-C ends the line that runs, else the session;
/// SIGTERM always ends the session.
private final class SessionSignals: Sendable {
    private let state = Mutex(State())
    private let restore: @Sendable () -> Void

    private struct State {
        var cancel: (@Sendable () -> Void)?
        var areFinal = false
    }

    init(isInteractive: Bool, restore: @escaping @Sendable () -> Void) {
        self.restore = restore
        Interruption.watch(SIGINT) { [self] in take(isFinal: !isInteractive) }
        Interruption.watch(SIGTERM) { [self] in take(isFinal: true) }
    }

    var areFinal: Bool { state.withLock { $0.areFinal } }

    /// A line runs, and can be cancelled.
    func begin(_ cancel: @escaping @Sendable () -> Void) { state.withLock { $0.cancel = cancel } }

    func end() { state.withLock { $0.cancel = nil } }

    private func take(isFinal: Bool) {
        let (cancel, wasFinal) = state.withLock { state in
            defer { state.areFinal = state.areFinal || isFinal }
            return (state.cancel, state.areFinal)
        }
        guard isFinal else {
            cancel?()
            return
        }
        // Nothing runs that could be cleaned up, or it does not end.
        if cancel == nil || wasFinal {
            restore()
            _exit(ExitStatus.interrupted)
        }
        Interruption.endSoon()
        cancel?()
    }
}
