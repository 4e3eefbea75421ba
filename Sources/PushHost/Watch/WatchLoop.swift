import Bindings
import Glibc
import Lua
import PushModel
import PushRuntime

/// Implements `--watch`: runs, waits for a file to change, runs again. A change during a run cancels the run.
struct WatchLoop {
    let interruption: Interruption
    /// Folders of which all Lua files are watched.
    var below: [String] = []
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    /// Time that a missing file has to reappear, because editors replace files.
    private static let grace = Duration.milliseconds(500)
    /// Polling interval for files that cannot be watched.
    private static let interval = Duration.seconds(1)

    init(interruption: Interruption, below: [String] = []) {
        self.interruption = interruption
        self.below = below
    }

    /// Runs the loop. Returns the exit code: 130 if a run was interrupted or after SIGTERM, else that of the last run. The loop ends after
    /// a first run with a wrong command line or nothing to read, and when the output cannot be written.
    func run(_ work: @escaping @Sendable (SourceFiles) async -> SessionResult) async -> Int32 {
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

    private func repeated(_ work: @escaping @Sendable (SourceFiles) async -> SessionResult) async throws(PushError) -> Int32 {
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
            let what = end.reason == .cancelled ? "\(found) during the run: starting again" : found
            output.line(Palette(isOn: output.hasColour).dim("── \(Self.time) · \(what) ──"))
            guard output.finish(reportingTo: errors) else { return max(end.status, ExitStatus.failed) }
        }
    }

    /// Waits for a file to change, calls `found`, and returns a description of the change. Nil if the wait was interrupted.
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
            // Watch before comparing, so that no change is missed.
            let isComplete = try watch.follow(sources.paths, allIn: sources.folders)
            var limit = isComplete ? nil : Self.interval
            let (changed, removed) = sources.changes
            if let removed {
                let end = graceEnd ?? .now + Self.grace
                graceEnd = end
                guard end > .now else { return "\(removed.printable) is gone" }
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

    /// The local time of day.
    private static var time: String {
        var now = time_t(0)
        var parts = tm()
        Glibc.time(&now)
        localtime_r(&now, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Int($0).padded(2) }.joined(separator: ":")
    }
}
