import Bindings
import Glibc
import Lua
import PushCore

/// `--watch`: runs, waits for a file to change, runs again.
struct WatchLoop {
    let interruption: Interruption
    /// Folders whose Lua files all count.
    var below: [String] = []
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(interruption: Interruption, below: [String] = []) {
        self.interruption = interruption
        self.below = below
    }

    /// Answers the exit code: 130 when a run was interrupted, else that of the last run. A first run that finds nothing to
    /// read ends the loop: the command line is wrong.
    func run(_ work: (SourceFiles) async -> Int32) async -> Int32 {
        let watch: FolderWatch
        do throws(PushError) {
            watch = try FolderWatch()
            var sources = SourceFiles(below: below)
            var status = await work(sources)
            if sources.isEmpty { return status }
            while !interruption.happened {
                guard let path = try await change(of: sources, watch) else { return status }
                output.line(Palette(isOn: output.hasColour).dim("── \(Self.time) · \(path.printable) has changed ──"))
                guard output.finish() else { return status }
                sources = SourceFiles(below: below)
                status = await work(sources)
            }
            return status
        } catch {
            for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: Palette(isOn: errors.hasColour)).lines {
                errors.line(line)
            }
            _ = errors.finish()
            return ExitStatus.failed
        }
    }

    /// Waits for a file to be another one. Nil when that is interrupted.
    private func change(of sources: SourceFiles, _ watch: FolderWatch) async throws(PushError) -> String? {
        interruption.onInterrupt { watch.stop() }
        output.progress(Palette(isOn: output.hasColour).dim("waiting for a change · Ctrl-C ends"))
        defer { output.eraseProgress() }
        while true {
            // First watch, then look: what changes in between is seen either way.
            try watch.add(sources.folders)
            if sources.changed != nil {
                guard await watch.settle() else { return nil }
                if let path = sources.changed { return path }
            }
            guard await watch.nextChange() else { return nil }
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
