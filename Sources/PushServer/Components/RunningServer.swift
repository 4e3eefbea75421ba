package import Bindings
package import Logging
import PushBackend
package import PushHub
package import PushLab
package import PushModel
import PushRuntime
import WebAPI

/// A running hub server with its storage, interfaces and connectors. Opened once, run once, stopped once.
package final class RunningServer: Sendable {
    package let listeners: ServerListeners
    private let context: ServerContext
    private let components: ServerComponents
    private let stack: ComponentStack
    private let monitors: ServerMonitors
    private let status: ServerStatus
    private let throttles: Throttles

    /// Opens the storage and resumes accepted notifications. On failure everything is closed again, and the folder is released.
    ///
    /// - Parameter connections: those of its ports, if the lab's ports share them.
    package static func opening(
        _ settings: ServerSettings, _ program: HostProgram, folder: DataFolder, lab: Lab? = nil, connections: ServerConnections? = nil,
        log: Logger, metrics: PrometheusRegistry
    ) async throws(PushError) -> RunningServer {
        let context = ServerContext(
            settings: LiveSettings(settings), program: program, folder: folder, lab: lab,
            connections: connections ?? ServerConnections(settings, SystemClock(), log), log: log, metrics: metrics)
        return try await ComponentStack.opening { stack throws(PushError) in
            stack.add(folder) { $0.release() }
            return RunningServer(context, try await ServerComponents.opening(context, on: stack), stack)
        }
    }

    private init(_ context: ServerContext, _ components: ServerComponents, _ stack: ComponentStack) {
        let settings = context.settings.current
        (self.context, self.components, self.stack) = (context, components, stack)
        monitors = ServerMonitors(components, context)
        status = ServerStatus(components, monitors, context)
        throttles = Throttles(requestsPerMinute: settings.requestsPerMinute, testSendsPerMinute: settings.testSendsPerMinute)
        listeners = ServerListeners(components, monitors, status, throttles, context)
    }

    package var namespace: Namespace { components.namespace }
    package var plugins: ServerPlugins { components.plugins }
    package var flows: ServerFlows { components.flows }
    package var database: DatabaseHealth { components.storage.health }
    package var credentials: CredentialMonitor { monitors.credentials }
    package var webhook: WebhookReporter { monitors.webhook }
    package var maintenance: ServerMaintenance { ServerMaintenance(components: components, context: context) }
    /// Records the owner's actions.
    var audit: OwnerAudit { components.ownerAudit }
    /// The sessions of the lab; nil without a lab.
    var labSessions: LabSessions? { components.lab?.sessions }
    /// The waiting requests of the lab; nil without a lab.
    var labPolls: LabPolls? { components.lab?.polls }

    /// The current settings.
    package var settings: ServerSettings { context.settings.current }

    /// Logs what the app backend cannot do with the current settings and keys.
    package func checkBackend() async { await components.backend.check(namespace) }

    /// Ends lab sessions without activity, until cancelled.
    package func endIdleLabSessions() async { await labSessions?.keepUp() }

    /// Applies the settings that can change while the server runs.
    func change(_ settings: ServerSettings) async {
        context.settings.replace(by: settings)
        throttles.change(requestsPerMinute: settings.requestsPerMinute, testSendsPerMinute: settings.testSendsPerMinute)
        components.approvals.sendGuard.change(settings.sendGuard.limits)
        components.connections.jobs.change(folders: settings.jobFolders, hosts: settings.jobHosts)
        await components.backend.services.securePayloads.change(retention: settings.keepSecurePayloads)
        await namespace.change(concurrentNotifications: settings.concurrentNotifications)
        await namespace.change(maxRemovedShare: settings.feedback.maxRemovedShare)
        await flows.change(settings)
    }

    /// Prepares to stop, while requests in progress are finished: flows start no more runs, and requests that wait for events of the lab
    /// are answered.
    package func beginStop() async {
        labPolls?.end()
        await flows.dispatcher.stopAccepting()
    }

    /// Stops the server: accepts no more work, finishes work in progress, and closes the files.
    package func stop() async {
        status.noteStop()
        for error in await stack.close() { context.log.error("\(error.message)") }
    }
}
