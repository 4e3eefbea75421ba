import HTTPTypes
import HubWire
import PushModel

/// The hub's own interface, compatible with Azure: hubs, registrations, installations, messages, feedback and jobs.
///
/// Passes each request to the function of its route, which authorizes it first (``HubAccess``). A new path needs a line here.
struct HubInterface: Sendable {
    private let registrations: RegistrationRoutes
    private let installations: InstallationRoutes
    private let messages: MessageRoutes
    private let feedback: FeedbackRoutes
    private let jobs: JobRoutes
    private let hubs: HubRoutes

    init(access: HubAccess, random: any RandomSource) {
        registrations = RegistrationRoutes(access: access)
        installations = InstallationRoutes(access: access)
        messages = MessageRoutes(access: access)
        feedback = FeedbackRoutes(access: access)
        jobs = JobRoutes(access: access, random: random)
        hubs = HubRoutes(access: access, random: random)
    }

    /// Throws `request.method` (405), and the routes' errors.
    func answer(_ request: WebRequest, at path: HubPath) async throws(PushError) -> WebAnswer {
        switch path {
        case .hubs:
            guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
            return try await hubs.list(request)
        case .feedback(let name):
            guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
            return try await feedback.records(of: name, request)
        case .hub(let name):
            switch request.method {
            case .put: return try await hubs.put(name, request)
            case .get: return try await hubs.get(name, request)
            case .delete: return try await hubs.delete(name, request)
            default: throw PushError.notAllowed(request, "GET, PUT, DELETE")
            }
        case .inHub(let hub, let resource): return try await answer(request, at: resource, of: hub)
        }
    }

    private func answer(_ request: WebRequest, at resource: HubPath.Resource, of hub: String) async throws(PushError) -> WebAnswer {
        switch (resource, request.method) {
        case (.registrationIDs, .post): return try await registrations.createID(hub, request)
        case (.registrations, .post): return try await registrations.create(hub, request)
        case (.registrations, .get): return try await registrations.list(hub, request)
        case (.registration(let id), .put): return try await registrations.put(id, of: hub, request)
        case (.registration(let id), .get): return try await registrations.get(id, of: hub, request)
        case (.registration(let id), .delete): return try await registrations.delete(id, of: hub, request)
        case (.taggedRegistrations(let tag), .get): return try await registrations.list(tag: tag, of: hub, request)
        case (.installation(let id), .put): return try await installations.put(id, of: hub, request)
        case (.installation(let id), .get): return try await installations.get(id, of: hub, request)
        case (.installation(let id), .patch): return try await installations.patch(id, of: hub, request)
        case (.installation(let id), .delete): return try await installations.delete(id, of: hub, request)
        case (.messages, .post): return try await messages.send(hub, request)
        case (.batch, .post): return try await messages.sendBatch(hub, request)
        case (.message(let id), .get): return try await messages.telemetry(id, of: hub, request)
        case (.schedule, .post): return try await messages.schedule(hub, request)
        case (.scheduled(let id), .delete): return try await messages.cancel(id, of: hub, request)
        case (.feedback, .get): return try await feedback.container(of: hub, request)
        case (.jobs, .post): return try await jobs.create(hub, request)
        case (.jobs, .get): return try await jobs.list(hub, request)
        case (.job(let id), .get): return try await jobs.get(id, of: hub, request)
        default: throw PushError.notAllowed(request, resource.methods)
        }
    }
}
