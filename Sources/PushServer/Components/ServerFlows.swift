import Bindings
import Logging
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import Storage
import WebAPI

/// Creates the dispatcher of a server's flows.
enum ServerFlows {
    /// - Parameters:
    ///   - hubs: the hubs that scripts can use.
    ///   - clock: the clock of the hubs.
    static func dispatcher(
        _ settings: ServerSettings, _ storage: any StorageEngine, _ hubs: ServerHubs, _ backend: BackendServices, events: HubEvents,
        clock: any HubClock, random: any RandomSource, lab: Lab?, log: Logger
    ) throws(PushError) -> FlowDispatcher {
        let executor = ScriptExecutor(
            hubs: hubs,
            backend: { hub in
                AppBackend(
                    environment: backend.environment, accounts: backend.accounts, hub: hub, securePayloads: backend.securePayloads)
            }, clock: clock, secrets: try ProjectSecrets(demoFolder: nil), random: random, plugins: settings.plugins, ownHub: settings.hub)
        return FlowDispatcher(
            store: storage.runs, executor: executor, clock: clock, zones: SystemTimeZones.shared, events: events,
            limit: settings.concurrentFlows, start: { work in lab?.thread.start(work) ?? Task { await work() } },
            tell: { news in log.tell(news) })
    }
}

extension Logger {
    fileprivate func tell(_ news: FlowLogEntry) {
        var metadata: Metadata = [:]
        metadata["run"] = news.run.map { "\($0)" }
        metadata["version"] = news.version.map { "\($0)" }
        metadata["at"] = news.location.map { "\($0)" }
        let level: Level =
            switch news.level {
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        log(level: level, "\(news.flow.isEmpty ? "flows" : "flow \(news.flow)"): \(news.text)", metadata: metadata)
    }
}

extension RunningServer {
    /// Updates `pushhost_flow_runs_unfinished` (runs of each flow that are queued or running) and `pushhost_approvals_waiting` (sends
    /// awaiting approval).
    func updateAutomationMetrics() async {
        let flows = flows
        var unfinished: [([(String, String)], Double)] = []
        for flow in await flows.served { unfinished.append(([("flow", flow.name)], Double(await flows.unfinished(of: flow.name)))) }
        metrics.replace("pushhost_flow_runs_unfinished", with: unfinished)
        guard let waiting = try? await sendGuard.countPending() else { return }
        metrics.replace("pushhost_approvals_waiting", with: [([], Double(waiting))])
    }

    /// Logs an error for each flow whose script cannot be read or does not accept its arguments.
    package func checkFlows() async {
        for flow in await flows.served {
            do throws(PushError) {
                try await flows.check(flow)
            } catch {
                log.error("the flow \(flow.name): \(error.message)\(error.hint.map { "; \($0)" } ?? "") (\(error.code))")
            }
        }
    }
}
