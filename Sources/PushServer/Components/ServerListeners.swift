import Hummingbird
import PushLab
package import PushModel
import PushRuntime
import RemoteHub
package import ServiceLifecycle
import Storage
package import WebAPI

/// Creates the services on the ports of a server and on its control socket.
package struct ServerListeners: Sendable {
    let components: ServerComponents
    let monitors: ServerMonitors
    let status: ServerStatus
    let throttles: Throttles
    let context: ServerContext
    private let connections: ServerConnections

    init(
        _ components: ServerComponents, _ monitors: ServerMonitors, _ status: ServerStatus, _ throttles: Throttles, _ context: ServerContext
    ) {
        (self.components, self.monitors, self.status) = (components, monitors, status)
        (self.throttles, self.context) = (throttles, context)
        connections = context.connections
    }

    /// Creates the service on one port. `onRunning` is called with the actual port when it accepts requests.
    package func application(
        port: Int, tls: TLSIdentity?, onRunning: @escaping @Sendable (Int) async -> Void
    ) throws(PushError) -> any Service {
        let settings = context.settings.current
        let web = WebSettings(isSecure: tls != nil, publicURL: settings.publicURL, policy: settings.clients)
        return try WebServer(
            address: .hostname(settings.host, port: port), responder: responder(web, throttles), tls: tls,
            limits: connections.limits, connections: connections.ofPorts, log: context.log
        ) { [status] port in
            status.noteListening(port: port, isSecure: tls != nil)
            await onRunning(port)
        }.service
    }

    /// Creates the service on the control socket in the data folder, which requires no key.
    package func controlApplication(onRunning: @escaping @Sendable () -> Void) throws(PushError) -> any Service {
        let responder = responder(WebSettings(isTrusted: true, policy: context.settings.current.clients), Throttles())
        return try WebServer(
            address: .unixDomainSocket(path: components.storage.socket.address), responder: responder, tls: nil,
            limits: connections.limits, connections: connections.ofCommands, log: context.log
        ) { [socket = components.storage.socket] _ in
            socket.restrictToOwner()
            onRunning()
        }.service
    }

    private func responder(_ web: WebSettings, _ throttles: Throttles) -> HubResponder {
        let (connectors, plugins) = (components.connections.connectors, components.plugins)
        let backups = ServerBackups(components: components, context: context)
        let channels = ChannelCommands(connectors: connectors, namespace: components.namespace, audit: components.ownerAudit)
        let metrics = ServerMetrics(components: components, monitors: monitors, connections: connections, context: context)
        return HubResponder(
            settings: web,
            environment: WebEnvironment(
                clock: context.clock, random: context.random, uptime: { ProcessUptime.now }, log: context.log,
                executor: context.lab?.thread),
            hubs: HubServices(
                components.namespace, throttles: throttles, credentials: connectors.services, audit: components.storage.audit,
                sendGuard: components.approvals.sendGuard),
            server: ServerRoutes(
                system: SystemRoutes(
                    isReady: { [status] in await status.reasonNotReady }, metrics: { await metrics.text() },
                    about: ServerDescription(version: Release.version, hasLab: context.settings.current.isLab).json),
                control: ControlRoutes(
                    backup: { name throws(PushError) in try await backups.make(name) },
                    restore: { name, renews throws(PushError) in
                        RenewedSecretsDocument(try await backups.restore(name, renewing: renews)).json
                    },
                    channels: { order throws(PushError) in try await channels.run(order) },
                    server: { [status] in await status.description }, plugins: { await plugins.supervisor.json }),
                lab: components.lab?.routes),
            backend: components.backend.services,
            plugins: PluginRouteServices(routing: plugins.host, spaces: components.storage.engine.keyValues),
            flows: components.flows.dispatcher)
    }
}
