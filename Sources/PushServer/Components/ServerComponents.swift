import Logging
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import Storage
import WebAPI

/// The open components of a server.
struct ServerComponents: Sendable {
    let storage: ServerStorage
    let connections: OutgoingConnections
    let plugins: ServerPlugins
    let backend: ServerBackend
    let namespace: Namespace
    let lab: LabInterface?
    let flows: ServerFlows
    let approvals: ServerApprovals

    var ownerAudit: OwnerAudit { OwnerAudit(storage.audit) }

    /// Opens the components of a server in order and adds them to `stack`. Accepted notifications and flows are resumed.
    static func opening(_ context: ServerContext, on stack: ComponentStack) async throws(PushError) -> ServerComponents {
        let settings = context.settings.current
        let inputs = try await StartupInputs(context)
        let storage = stack.add(try await ServerStorage(inputs, context)) { storage throws(PushError) in try await storage.close() }
        let connections = stack.add(OutgoingConnections(inputs, storage, context)) { await $0.close() }
        let sendGuard = SendGuard(
            store: storage.engine.approvals, audit: storage.audit, clock: context.hubClock, random: context.random,
            limits: settings.sendGuard.limits)
        let (hooks, events) = (LateBoundHooks(), HubEvents())
        let environment = environment(context, hooks, events)

        let plugins = stack.add(try ServerPlugins(storage, sendGuard, context)) { $0.close() }
        hooks.connect(plugins.host)
        // Load plugins before hubs resume accepted notifications, which may call hooks.
        try await plugins.supervisor.begin()
        let backend = try ServerBackend(environment, inputs, storage, connections, sendGuard, context)
        let flows = try ServerFlows(storage, plugins, backend.services, events: events, context)
        let namespace = stack.add(try await ServerNamespace.opening(environment, storage, connections, context)) { await $0.stop() }
        let components = ServerComponents(
            storage: storage, connections: connections, plugins: plugins, backend: backend, namespace: namespace,
            lab: lab(connections, namespace, backend, context), flows: flows,
            approvals: ServerApprovals(sendGuard: sendGuard, namespace: namespace, log: context.log, metrics: context.metrics))
        stack.add(components.lab?.sessions) { await $0?.endAll() }
        // Plugins stop before the hubs, whose sends may wait for them.
        stack.add(plugins.activity) { await $0.stop() }
        stack.add(flows.dispatcher) { await $0.stop() }
        await storage.serve(context.log)
        try await components.begin(context)
        return components
    }

    /// Starts what the components do by themselves. If it fails, `stack` ends what has started, because every component is on it.
    ///
    /// Resumes accepted notifications, removes what earlier sessions of a lab left behind, creates the first hub, and starts plugins,
    /// approved sends and flows.
    private func begin(_ context: ServerContext) async throws(PushError) {
        let settings = context.settings.current
        try await namespace.resume()
        if let lab {
            await lab.sessions.removeLeftovers()
        } else {
            await AbandonedSessions.remove(recordedIn: context.folder.file("lab"), namespace, context.log)
        }
        if namespace.hubs.isEmpty { _ = try await namespace.create(settings.hub, HubDescription()) }
        plugins.activity.begin(namespace)
        await approvals.maintain()
        try await flows.dispatcher.begin(settings.flows)
    }

    private static func environment(_ context: ServerContext, _ hooks: LateBoundHooks, _ events: HubEvents) -> HubEnvironment {
        let (lab, log) = (context.lab, context.log)
        return HubEnvironment(
            clock: context.hubClock, random: context.random, start: context.startForRun,
            observer: { event in
                lab?.trace.note(event)
                log.log(level: event.isWarning ? .warning : .debug, "\(event.text)", metadata: ["area": "\(event.area.rawValue)"])
            }, isWatched: { lab != nil || log.logLevel <= .debug }, hooks: hooks, events: events, deviceObserver: lab?.deviceObserver)
    }

    private static func lab(
        _ connections: OutgoingConnections, _ namespace: Namespace, _ backend: ServerBackend, _ context: ServerContext
    ) -> LabInterface? {
        guard let lab = context.lab, let wires = connections.wires else { return nil }
        let sessions = LabSessions(lab: lab, namespace: namespace, wires: wires, log: context.log)
        return LabInterface(sessions: sessions) { name, password throws(PushError) in
            try await backend.services.accounts.ensureAccount(username: name, password: password) == .created
        }
    }
}
