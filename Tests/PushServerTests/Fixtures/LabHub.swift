import PushHub
import PushLab
import PushModel
import RemoteHub

/// The hub of a server with a lab, used as a remote client uses it: a send is accepted first, then its outcome is polled until it is
/// known.
struct LabHub: HubGateway {
    let hub: NotificationHub
    let clock: RemoteClock
    let thread: LabThread

    private func ask<Answer: Sendable>(
        _ work: @escaping @Sendable (NotificationHub) async throws(PushError) -> Answer
    ) async throws(PushError) -> Answer {
        try await clock.during { () async throws(PushError) in
            try await withTaskExecutorPreference(thread) { [hub] () async throws(PushError) in try await work(hub) }
        }
    }

    func createRegistrationID() async throws(PushError) -> RegistrationID {
        try await ask { hub throws(PushError) in await hub.createRegistrationID() }
    }

    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await ask { hub throws(PushError) in try await hub.createRegistration(description) }
    }

    func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await ask { hub throws(PushError) in try await hub.putRegistration(id, description, ifMatch: ifMatch) }
    }

    func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        try await ask { hub throws(PushError) in try await hub.registration(id) }
    }

    func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await ask { hub throws(PushError) in try await hub.deleteRegistration(id, ifMatch: ifMatch) }
    }

    func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await ask { hub throws(PushError) in try await hub.registrations(filter, page: page) }
    }

    func putInstallation(_ installation: Installation) async throws(PushError) {
        try await ask { hub throws(PushError) in try await hub.putInstallation(installation) }
    }

    func installation(_ id: String) async throws(PushError) -> Installation {
        try await ask { hub throws(PushError) in try await hub.installation(id) }
    }

    func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await ask { hub throws(PushError) in try await hub.patchInstallation(id, operations) }
    }

    func deleteInstallation(_ id: String) async throws(PushError) {
        try await ask { hub throws(PushError) in try await hub.deleteInstallation(id) }
    }

    func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        try await ask { hub throws(PushError) in try await hub.installations(filter, page: page) }
    }

    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        let accepted = try await ask { hub throws(PushError) in try await hub.accept(request) }
        return try await finish(accepted.outcome.id)
    }

    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await ask { hub throws(PushError) in try await hub.schedule(request, at: dueTime) }
    }

    func cancel(notification id: String) async throws(PushError) {
        try await ask { hub throws(PushError) in try await hub.cancel(notification: id) }
    }

    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        try await ask { hub throws(PushError) in try await hub.trace(question) }
    }

    func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        try await ask { hub throws(PushError) in try await hub.outcome(of: id) }
    }

    func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        while true {
            try await clock.waitUntilQuiet()
            let outcome = try await outcome(of: id)
            switch outcome.state {
            case .enqueued, .processing: break
            case .scheduled where outcome.scheduledFor.map({ $0 <= clock.now }) ?? true: break
            default: return outcome
            }
            do {
                try await clock.sleep(until: clock.now + .seconds(1))
            } catch {
                throw (error as? PushError) ?? PushError("target.unreachable", "the run ended")
            }
        }
    }

    func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { throw PushError.plansUnsupported }

    func plan(_ id: String) async throws(PushError) -> PlanReport { throw PushError.plansUnsupported }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { throw PushError.plansUnsupported }
}
