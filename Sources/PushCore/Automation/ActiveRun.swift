import Synchronization

/// A run that is under way. Part of the dispatcher's state.
struct ActiveRun {
    /// Its place among all that this process has begun: tells it apart from another attempt at the same run.
    let serial: Int
    /// As it was when it began.
    var run: RunRecord
    var task: Task<Void, Never>?
    var monitor: RunMonitor?
    /// Who wants its end.
    var cancelledBy: String?
    /// Whether the store is being told how far it is.
    var isKeeping = false

    /// As it is now.
    var current: RunRecord {
        guard let monitor else { return run }
        var run = run
        (run.report, run.version) = monitor.state
        return run
    }
}

/// What a run was given that is kept in memory alone.
struct PrivateArguments: Sendable {
    var values: JSONObject
    var caller: Session?
}

/// What a run tells of itself while it goes, from whichever thread.
final class RunMonitor: Sendable {
    private struct State {
        var report: RunReport
        var version: String?
        /// Something came that is not kept yet.
        var hasNews = false
    }

    private let current: Mutex<State>
    private let onNews: @Sendable () -> Void

    /// - Parameter onNews: called when there is something to keep, once until it is taken.
    init(_ report: RunReport, onNews: @escaping @Sendable () -> Void) {
        // What an attempt before this one told is no part of this one.
        var report = report
        (report.steps, report.log, report.omitted, report.result, report.failure) = ([], [], 0, nil, nil)
        current = Mutex(State(report: report))
        self.onNews = onNews
    }

    var state: (report: RunReport, version: String?) { current.withLock { ($0.report, $0.version) } }
    var hasNews: Bool { current.withLock { $0.hasNews } }

    func takeNews() -> (report: RunReport, version: String?) {
        current.withLock { state in
            state.hasNews = false
            return (state.report, state.version)
        }
    }

    func take(_ progress: RunProgress) {
        let isFirst = current.withLock { state in
            let before = state.hasNews
            switch progress {
            case .began(let version): (state.version, state.hasNews) = (version, true)
            case .step(let step):
                state.report.add(step)
                state.hasNews = true
            case .line(let line): state.report.add(line)
            case .notification(let id): state.hasNews = state.report.note(id) || state.hasNews
            }
            return state.hasNews && !before
        }
        if isFirst { onNews() }
    }
}
