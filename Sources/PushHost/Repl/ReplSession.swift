import ArgumentParser
import Bindings
import Glibc
import Lua
import PushLab
import PushModel
import PushRuntime
import Synchronization

/// One run of `pushhost repl`: creates the embedded world, reads and runs lines, and shows the results.
final class ReplSession: Sendable {
    private let world: FlowWorld
    private let output = Output(descriptor: STDOUT_FILENO)
    private let text: TextReport
    private let errors = Output(descriptor: STDERR_FILENO)
    private let lines = Mutex(ReplLines())
    private let hasFailed = Mutex(false)
    private let seed: UInt64
    let registry: BindingRegistry
    private let isTutorialMode: Bool
    private let runner: FlowRunner
    /// Whether the input is a terminal.
    private let isInteractive = isatty(STDIN_FILENO) == 1

    /// Throws if the world cannot be created, for example because a secrets file cannot be read.
    private init(_ command: ReplCommand, _ registry: BindingRegistry) throws(PushError) {
        seed = command.seed
        self.registry = registry
        isTutorialMode = command.tutorialMode
        let thread = LuaThread(name: "lua")
        let text = TextReport(output: output, header: nil)
        let output = output
        let trace: @Sendable (FlowEvent) -> Void = { event in
            text.take(event)
            output.flush()
        }
        world = try EmbeddedWorld(
            seed: command.seed, thread: thread, module: registry, secrets: ProjectSecrets(demoFolder: "scripts"),
            isTutorialMode: command.tutorialMode, wire: command.wire.opened(), trace: command.trace ? trace : nil
        ).world
        runner = FlowRunner(
            world: world, thread: thread, limits: command.budgets.limits(), seed: command.seed, scripts: ProjectScripts())
        self.text = text
    }

    /// The values that the loop over the lines needs.
    private struct LineContext {
        let flow: InteractiveFlow
        let source: any LineSource
        let signals: SessionSignals
    }

    /// Runs a session to its end and returns the exit code.
    static func run(_ command: ReplCommand, _ registry: BindingRegistry) async -> Int32 {
        do {
            return try await ReplSession(command, registry).run()
        } catch {
            let errors = Output(descriptor: STDERR_FILENO)
            let error = (error as? LuaError) ?? (error as? PushError).map(LuaError.init)
            let shown = error ?? LuaError(kind: .failure, code: "host.error", message: "the session cannot start")
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
            }, failures: { [self] in reportError($0) })
        let source = source(of: flow)
        let signals = SessionSignals(source, isInteractive: isInteractive) { [self] in
            errors.line("the line is still running; press Ctrl-C again to end pushhost")
            errors.flush()
        }
        let talk = LineContext(flow: flow, source: source, signals: signals)
        if isInteractive, output.isTerminal {
            let version = Release.version
            let palette = Palette(isOn: output.hasColour)
            output.line(palette.dim("pushhost \(version) · embedded · seed \(seed) · .help lists all functions, Ctrl-D ends"))
        }
        if isTutorialMode { text.take(.warning(.tutorialMode)) }
        while !signals.isTerminating, !output.isOutputClosed {
            let (number, isContinued) = lines.withLock { ($0.next, $0.isContinued) }
            let input = await source.next(prompt: "repl:\(number)\(isContinued ? "|" : ">") ")
            switch input {
            case .line(let line):
                guard await take(Self.withoutMarks(line, isFirst: number == 1), talk) else { return await end(talk) }
            case .interrupted: lines.withLock { $0.close() }
            case .unreadable(let error):
                lines.withLock { $0.skip("") }
                reportError(LuaError(error))
            case .end, .broken:
                if case .broken(let error) = input { reportError(LuaError(error)) }
                if isContinued { _ = await evaluate(talk, isComplete: true) }
                return await end(talk)
            }
        }
        return await end(talk)
    }

    private func source(of flow: InteractiveFlow) -> any LineSource {
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        guard isInteractive, output.isTerminal, !isDumb else {
            return PlainLineReader(screen: isInteractive && output.isTerminal ? output : nil)
        }
        let completer = LineCompleter(flow: flow, registry: registry)
        return EditingLineReader(screen: output) { [self] before in
            await completer.completion(of: lines.withLock { $0.chunk } + [before])
        }
    }

    /// Processes a line. Returns `false` if it ends the session.
    private func take(_ line: String, _ talk: LineContext) async -> Bool {
        let isBlank = line.allSatisfy(\.isWhitespace)
        let isContinued = lines.withLock { $0.isContinued }
        let isCommand = line.first == "." && line.dropFirst().first?.isLetter == true
        if !isContinued, isBlank || isCommand {
            lines.withLock { $0.skip(line) }
            let continues = isBlank ? true : await commands.perform(line)
            output.flush()
            return continues
        }
        lines.withLock { $0.append(line) }
        let answer = await evaluate(talk, isComplete: false)
        if answer != .unfinished { lines.withLock { $0.close() } }
        return true
    }

    private var commands: SessionCommands {
        SessionCommands(world: world, registry: registry, output: output, text: text) { [self] in reportError($0) }
    }

    /// Removes a byte order mark and a `#!` line, which may start a file but are not Lua.
    private static func withoutMarks(_ line: String, isFirst: Bool) -> String {
        guard isFirst else { return line }
        let text = line.unicodeScalars.first == "\u{feff}" ? String(line.unicodeScalars.dropFirst()) : line
        return text.hasPrefix("#!") ? "" : text
    }

    private func evaluate(_ talk: LineContext, isComplete: Bool) async -> InteractiveFlow.Answer {
        let (chunk, first) = lines.withLock { ($0.chunk.joined(separator: "\n"), $0.first) }
        let task = talk.signals.begin { Task { await talk.flow.evaluate(chunk, firstLine: first, isComplete: isComplete) } }
        let answer = await task.value
        // Input typed ahead was meant to follow the line that was interrupted.
        if talk.signals.lineDidEnd() { talk.source.discard() }
        if case .value(let value?) = answer {
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                let values = line.split(separator: "\t", omittingEmptySubsequences: false)
                output.line(values.map { String($0).printable }.joined(separator: "\t"))
            }
        }
        output.flush()
        return answer
    }

    private func end(_ talk: LineContext) async -> Int32 {
        talk.source.restore()
        await talk.flow.end()
        await world.end()
        let isWritten = output.finish(reportingTo: errors)
        if talk.signals.isTerminating { return ExitStatus.interrupted }
        let isFailed = !isWritten || (!isInteractive && hasFailed.withLock { $0 })
        return isFailed ? ExitStatus.failed : ExitStatus.pass
    }

    // MARK: - Errors

    /// Shows an error with the session line that raised it.
    private func reportError(_ error: LuaError) {
        output.flush()
        let source = lines.withLock { $0.source }
        let diagnostic = Diagnostic(error, source: source, scriptName: "repl", palette: Palette(isOn: errors.hasColour))
        for line in diagnostic.lines { errors.line(line) }
        errors.flush()
        hasFailed.withLock { $0 = true }
    }
}
