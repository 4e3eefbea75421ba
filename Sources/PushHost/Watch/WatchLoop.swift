import Bindings
import Glibc
import Lua
import PushCore

/// `--watch`: runs, waits for a file to change, runs again. A change during a run cancels it.
struct WatchLoop {
    let interruption: Interruption
    /// Folders whose Lua files all count.
    var below: [String] = []
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    /// Editors replace files: one that is gone may be about to come back.
    private static let grace = Duration.milliseconds(500)
    /// What cannot be watched is looked at so often.
    private static let interval = Duration.seconds(1)

    init(interruption: Interruption, below: [String] = []) {
        self.interruption = interruption
        self.below = below
    }

    /// Answers the exit code: 130 when a run was interrupted and after SIGTERM, else that of the last run. A first run that
    /// shows that the command line is wrong, or finds nothing to read, ends the loop; so does output that cannot be written.
    func run(_ work: @escaping @Sendable (SourceFiles) async -> SessionEnd) async -> Int32 {
        do throws(PushError) {
            let status = try await repeated(work)
            return interruption.isTermination ? ExitStatus.interrupted : status
        } catch {
            for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: Palette(isOn: errors.hasColour)).lines {
                errors.line(line)
            }
            _ = errors.finish()
            return ExitStatus.failed
        }
    }

    private func repeated(_ work: @escaping @Sendable (SourceFiles) async -> SessionEnd) async throws(PushError) -> Int32 {
        let watch = try FolderWatch(endsWithOutput: true)
        var isFirst = true
        while true {
            let sources = SourceFiles(below: below) { watch.look() }
            let run = Task { await work(sources) }
            let watching = Task { await change(of: sources, watch) { run.cancel() } }
            let end = await run.value
            let isWrong = isFirst && (end.reason == .badCommandLine || sources.isEmpty)
            if isWrong || end.reason == .unwritable || interruption.happened { return end.status }
            isFirst = false
            interruption.onInterrupt { watch.stop() }
            output.progress("waiting for a change · Ctrl-C ends")
            let found = await watching.value
            output.eraseProgress()
            guard let found = try found.get() else { return end.status }
            let what = end.reason == .cancelled ? "\(found) during the run: it begins again" : found
            output.line(Palette(isOn: output.hasColour).dim("── \(Self.time) · \(what) ──"))
            guard output.finish(reportingTo: errors) else { return max(end.status, ExitStatus.failed) }
        }
    }

    /// Waits for a file to be another one, and answers what has happened to it; `found` is called then. Nil when the waiting
    /// is interrupted.
    private func change(
        of sources: SourceFiles, _ watch: FolderWatch, found: @Sendable () -> Void
    ) async -> Result<String?, PushError> {
        do throws(PushError) {
            let change = try await nextChange(of: sources, watch)
            if change != nil { found() }
            return .success(change)
        } catch {
            return .failure(error)
        }
    }

    private func nextChange(of sources: SourceFiles, _ watch: FolderWatch) async throws(PushError) -> String? {
        var graceEnd: ContinuousClock.Instant?
        while true {
            // First watch, then look: what changes in between is seen either way.
            let isComplete = try watch.follow(sources.paths, allIn: sources.folders)
            var limit = isComplete ? nil : Self.interval
            let (changed, gone) = sources.changes
            if let gone {
                let end = graceEnd ?? .now + Self.grace
                graceEnd = end
                guard end > .now else { return "\(gone.printable) is gone" }
                limit = end - .now
            } else {
                graceEnd = nil
                if changed != nil {
                    guard await watch.settle() else { return nil }
                    if case (let path?, nil) = sources.changes { return "\(path.printable) has changed" }
                    continue
                }
            }
            guard await watch.next(within: limit) else { return nil }
        }
    }

    /// The time of day of this machine.
    private static var time: String {
        var now = time_t(0)
        var parts = tm()
        Glibc.time(&now)
        localtime_r(&now, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Int($0).padded(2) }.joined(separator: ":")
    }
}
