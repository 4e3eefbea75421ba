import PushModel
import Synchronization

/// A run in progress. Part of the dispatcher's state.
struct ActiveRun {
    /// Sequence number within this process. Distinguishes two attempts at the same run.
    let serial: Int
    /// The record when the run started.
    var run: RunRecord
    var task: Task<Void, Never>?
    var monitor: RunMonitor?
    /// The actor that requested cancellation.
    var cancelledBy: String?
    /// Whether a checkpoint of this run is being written to the store.
    var isStoringCheckpoint = false

    /// The record with the progress so far.
    var current: RunRecord {
        guard let monitor else { return run }
        var run = run
        (run.report, run.version) = monitor.state
        return run
    }
}

/// Arguments and caller of a run that are held in memory only, never stored.
struct PrivateArguments: Sendable {
    var values: JSONObject
    var caller: Session?
}

/// Collects the progress that a run reports. Thread-safe.
final class RunMonitor: Sendable {
    private struct State {
        var report: RunReport
        var version: String?
        /// Whether there is progress that has not been stored.
        var hasUnstoredProgress = false
    }

    private let current: Mutex<State>
    private let onUnstoredProgress: @Sendable () -> Void

    /// - Parameter onUnstoredProgress: called when there is progress to store; not called again until `takeUnstoredProgress()`.
    init(_ report: RunReport, onUnstoredProgress: @escaping @Sendable () -> Void) {
        // Drop what an earlier attempt reported.
        var report = report
        (report.steps, report.log, report.omitted, report.result, report.failure) = ([], [], 0, nil, nil)
        current = Mutex(State(report: report))
        self.onUnstoredProgress = onUnstoredProgress
    }

    var state: (report: RunReport, version: String?) { current.withLock { ($0.report, $0.version) } }
    var hasUnstoredProgress: Bool { current.withLock { $0.hasUnstoredProgress } }

    func takeUnstoredProgress() -> (report: RunReport, version: String?) {
        current.withLock { state in
            state.hasUnstoredProgress = false
            return (state.report, state.version)
        }
    }

    func take(_ progress: RunProgress) {
        let isFirst = current.withLock { state in
            let before = state.hasUnstoredProgress
            switch progress {
            case .began(let version): (state.version, state.hasUnstoredProgress) = (version, true)
            case .step(let step):
                state.report.add(step)
                state.hasUnstoredProgress = true
            case .line(let line): state.report.add(line)
            case .notification(let id): state.hasUnstoredProgress = state.report.note(id) || state.hasUnstoredProgress
            }
            return state.hasUnstoredProgress && !before
        }
        if isFirst { onUnstoredProgress() }
    }
}
