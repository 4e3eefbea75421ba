/// A hub that wraps another one. It forwards what it does not implement itself, except for the methods of `NotificationSender`: each
/// wrapper decides what it does with a send.
package protocol ForwardingHub: HubGateway {
    var base: any HubGateway { get }
}

extension ForwardingHub {
    package func createRegistrationID() async throws(PushError) -> RegistrationID { try await base.createRegistrationID() }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await base.createRegistration(description)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration { try await base.putRegistration(id, description, ifMatch: ifMatch) }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration { try await base.registration(id) }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await base.deleteRegistration(id, ifMatch: ifMatch)
    }

    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await base.registrations(filter, page: page)
    }

    package func putInstallation(_ installation: Installation) async throws(PushError) { try await base.putInstallation(installation) }

    package func installation(_ id: String) async throws(PushError) -> Installation { try await base.installation(id) }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await base.patchInstallation(id, operations)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) { try await base.deleteInstallation(id) }

    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        try await base.installations(filter, page: page)
    }

    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome { try await base.outcome(of: id) }

    package func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer { try await base.trace(question) }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome { try await base.finish(id) }

    package func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { try await base.plan(request) }

    package func plan(_ id: String) async throws(PushError) -> PlanReport { try await base.plan(id) }
}
