import Bindings
import Logging
package import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import Storage
import WebAPI

/// The flows of a server.
package struct ServerFlows: Sendable {
    package let dispatcher: FlowDispatcher
    private let context: ServerContext

    /// - Parameter plugins: have the hubs that scripts can use.
    init(
        _ storage: ServerStorage, _ plugins: ServerPlugins, _ backend: BackendServices, events: HubEvents, _ context: ServerContext
    ) throws(PushError) {
        let (settings, log) = (context.settings.current, context.log)
        let executor = ScriptExecutor(
            hubs: plugins.hubs, program: context.program,
            backend: { hub in
                AppBackend(
                    environment: backend.environment, accounts: backend.accounts, hub: hub, securePayloads: backend.securePayloads)
            }, clock: context.hubClock, secrets: try ProjectSecrets(demoFolder: nil), random: context.random, plugins: settings.plugins,
            ownHub: settings.hub)
        dispatcher = FlowDispatcher(
            store: storage.engine.runs, executor: executor, clock: context.hubClock, zones: SystemTimeZones.shared, events: events,
            limit: settings.concurrentFlows, start: context.startForRun, writeLog: { entry in log.record(entry) })
        self.context = context
    }

    /// Logs an error for each flow whose script cannot be read or does not accept its arguments.
    package func check() async {
        for flow in await dispatcher.served {
            do throws(PushError) {
                try await dispatcher.check(flow)
            } catch {
                context.log.error("the flow \(flow.name): \(error.message)\(error.hint.map { "; \($0)" } ?? "") (\(error.code))")
            }
        }
    }

    /// Applies changed settings, and checks the flows. If they are invalid, the previous flows stay in effect.
    func change(_ settings: ServerSettings) async {
        await dispatcher.change(limit: settings.concurrentFlows)
        do throws(PushError) {
            if await dispatcher.served != settings.flows.sorted(by: { $0.name < $1.name }) {
                try await dispatcher.configure(settings.flows)
            }
        } catch {
            context.log.error("the previous flows stay in effect: \(error.message)")
        }
        await check()
    }

    /// Sets `pushhost_flow_runs_unfinished`: the runs of each flow that are queued or running.
    func measure() async {
        var unfinished: [([(String, String)], Double)] = []
        for flow in await dispatcher.served {
            unfinished.append(([("flow", flow.name)], Double(await dispatcher.unfinished(of: flow.name))))
        }
        context.metrics.replace("pushhost_flow_runs_unfinished", with: unfinished)
    }
}

extension Logger {
    fileprivate func record(_ entry: FlowLogEntry) {
        var metadata: Metadata = [:]
        metadata["run"] = entry.run.map { "\($0)" }
        metadata["version"] = entry.version.map { "\($0)" }
        metadata["at"] = entry.location.map { "\($0)" }
        let level: Level =
            switch entry.level {
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        log(level: level, "\(entry.flow.isEmpty ? "flows" : "flow \(entry.flow)"): \(entry.text)", metadata: metadata)
    }
}
