import Delivery
import HubWire
import PushHub
import PushLab
import PushModel
import Storage
import WebAPI

/// Opens the hubs of a server.
enum ServerNamespace {
    /// Loads the hubs. They do nothing until `Namespace.resume()` is called. Throws `lab.credentials` and the errors of the storage.
    static func opening(
        _ environment: HubEnvironment, _ storage: ServerStorage, _ connections: OutgoingConnections, _ context: ServerContext
    ) async throws(PushError) -> Namespace {
        let (settings, clock) = (context.settings.current, context.hubClock)
        let store = storage.engine.namespace
        if settings.isLab { try await Lab.check(store) }
        return try await Namespace(
            environment: environment, store: context.lab?.forLab(store) ?? store,
            settings: HubSettings(settings),
            jobTools: JobService.Tools(files: connections.jobs, codec: RegistrationLines()),
            admits: { description, before throws(PushError) in
                if settings.isLab { try Lab.admit(description) }
                try description.checkCredentials(before: before, now: clock.now)
            },
            connectors: connections.connectors.connectors(of:))
    }
}
