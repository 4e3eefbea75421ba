/// Report the state of a running server.
struct ServerMonitors: Sendable {
    let credentials: CredentialMonitor
    let hubs: HubMonitor
    let webhook: WebhookReporter

    init(_ components: ServerComponents, _ context: ServerContext) {
        credentials = CredentialMonitor(
            connectors: components.connections.connectors, namespace: components.namespace, log: context.log, metrics: context.metrics)
        hubs = HubMonitor(namespace: components.namespace, context: context)
        webhook = WebhookReporter(components.namespace, context)
    }
}
