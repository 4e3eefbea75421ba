import PushHub
import PushLab
import PushModel
import Synchronization

/// The state of a running server, for probes and the owner's commands.
final class ServerStatus: Sendable {
    private let components: ServerComponents
    private let monitors: ServerMonitors
    private let context: ServerContext
    private let isStopping = Atomic(false)
    private let ports = Mutex(ListeningPorts())

    init(_ components: ServerComponents, _ monitors: ServerMonitors, _ context: ServerContext) {
        (self.components, self.monitors, self.context) = (components, monitors, context)
    }

    /// Notes that the server stops. It is not ready from then on.
    func noteStop() { isStopping.store(true, ordering: .relaxed) }

    func noteListening(port: Int, isSecure: Bool) { ports.withLock { isSecure ? ($0.tls = port) : ($0.http = port) } }

    /// Why the server is not ready; nil if it is.
    var reasonNotReady: String? {
        get async {
            if isStopping.load(ordering: .relaxed) { return "the server is stopping" }
            if components.namespace.isClosed { return "a backup is being restored" }
            return await components.storage.health.reasonNotReady
        }
    }

    /// The description for the owner's commands.
    var description: JSON {
        get async {
            let ports = ports.withLock { $0 }
            func number(_ port: Int?) -> JSON { port.map { .integer(Int64($0)) } ?? .null }
            var members = JSONObject([("clientURL", context.settings.current.clientURL(ports).map(JSON.string) ?? .null)])
            members.append("httpPort", number(ports.http))
            members.append("tlsPort", number(ports.tls))
            members.append("troubles", .array(await monitors.hubs.issues.map(\.json)))
            members.append("heldRemovals", .array(await monitors.hubs.heldRemovals.map(\.json)))
            members.append("credentials", .array(monitors.credentials.states.map(\.json)))
            members.append("webhook", await monitors.webhook.state?.json ?? .null)
            for (name, value) in context.lab?.description ?? [] { members.append(name, value) }
            return .object(members)
        }
    }
}
