/// A hub whose sends are answered as soon as they are kept, for those who cannot wait until every device has its verdict. Kept, they
/// are delivered, also by a later process.
package struct AcceptingHub: HubGateway {
    private let hub: NotificationHub

    package init(_ hub: NotificationHub) { self.hub = hub }

    /// The outcome is that of a notification that has just been accepted.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await hub.accept(request).outcome
    }

    package func createRegistrationID() async throws(PushError) -> RegistrationID { await hub.createRegistrationID() }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await hub.createRegistration(description)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await hub.putRegistration(id, description, ifMatch: ifMatch)
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration { try await hub.registration(id) }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await hub.deleteRegistration(id, ifMatch: ifMatch)
    }

    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await hub.registrations(filter, page: page)
    }

    package func putInstallation(_ installation: Installation) async throws(PushError) { try await hub.putInstallation(installation) }

    package func installation(_ id: String) async throws(PushError) -> Installation { try await hub.installation(id) }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await hub.patchInstallation(id, operations)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) { try await hub.deleteInstallation(id) }

    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        try await hub.installations(filter, page: page)
    }

    package func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await hub.schedule(request, at: moment)
    }

    package func cancel(scheduled id: String) async throws(PushError) { try await hub.cancel(scheduled: id) }

    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome { try await hub.outcome(of: id) }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome { try await hub.finish(id) }
}
