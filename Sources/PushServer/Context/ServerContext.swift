import Bindings
import Logging
import PushHub
import PushLab
import PushModel
import PushRuntime

/// The context that the components of a server share: settings, data folder, clocks, randomness, log, metrics, and the lab of a development
/// server.
struct ServerContext: Sendable {
    let settings: LiveSettings
    /// The bindings and native plugins of this program.
    let program: HostProgram
    let folder: DataFolder
    let lab: Lab?
    let connections: ServerConnections
    let log: Logger
    let metrics: PrometheusRegistry
    let clock = SystemClock()
    let random = SystemRandom()

    /// The clock of the hubs.
    var hubClock: any HubClock { lab?.clock ?? clock }

    /// Starts a task on the executor of the hubs. It is not charged to a run.
    var start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> {
        { [startForRun] work in ChargedWork.withoutRun { startForRun(work) } }
    }

    /// Starts a task on the executor of the hubs. If the caller works for a run, the run is charged for the task's CPU time.
    var startForRun: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> {
        { [lab] work in
            guard let account = ChargedWork.account else { return lab?.thread.start(work) ?? Task { await work() } }
            guard let lab else { return ChargedExecutor(account).start(work) }
            return ChargedExecutor(account) { lab.thread.perform($0) }.start(work)
        }
    }

    /// Runs `work` on the executor of the hubs: the lab's thread, if there is a lab.
    func onHubs<Answer: Sendable, Failure: Error>(_ work: @Sendable () async throws(Failure) -> Answer) async throws(Failure) -> Answer {
        try await withTaskExecutorPreference(lab?.thread) { () async throws(Failure) in try await work() }
    }
}
