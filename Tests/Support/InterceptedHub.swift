import PushCore

/// A hub where something happens before a call arrives: a change by somebody else, or a refusal.
package struct InterceptedHub: HubGateway {
    package enum Call: Sendable, Equatable {
        case createRegistrationID, createRegistration, registration, registrations, send, other
        case putRegistration(RegistrationID)
        case deleteRegistration(RegistrationID)

        package var isPut: Bool { if case .putRegistration = self { true } else { false } }
        package var isDelete: Bool { if case .deleteRegistration = self { true } else { false } }
    }

    private let hub: any HubGateway
    private let before: @Sendable (Call) async throws(PushError) -> Void

    package init(_ hub: any HubGateway, before: @escaping @Sendable (Call) async throws(PushError) -> Void) {
        self.hub = hub
        self.before = before
    }

    package func createRegistrationID() async throws(PushError) -> RegistrationID {
        try await before(.createRegistrationID)
        return try await hub.createRegistrationID()
    }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await before(.createRegistration)
        return try await hub.createRegistration(description)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await before(.putRegistration(id))
        return try await hub.putRegistration(id, description, ifMatch: ifMatch)
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        try await before(.registration)
        return try await hub.registration(id)
    }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await before(.deleteRegistration(id))
        try await hub.deleteRegistration(id, ifMatch: ifMatch)
    }

    package func registrations(
        _ filter: RegistrationFilter, page: Page
    ) async throws(PushError) -> RegistrationPage {
        try await before(.registrations)
        return try await hub.registrations(filter, page: page)
    }

    package func putInstallation(_ installation: Installation) async throws(PushError) {
        try await before(.other)
        try await hub.putInstallation(installation)
    }

    package func installation(_ id: String) async throws(PushError) -> Installation {
        try await before(.other)
        return try await hub.installation(id)
    }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await before(.other)
        try await hub.patchInstallation(id, operations)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) {
        try await before(.other)
        try await hub.deleteInstallation(id)
    }

    package func installations(
        _ filter: InstallationFilter, page: Page
    ) async throws(PushError) -> InstallationPage {
        try await before(.other)
        return try await hub.installations(filter, page: page)
    }

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await before(.send)
        return try await hub.send(request)
    }

    package func schedule(
        _ request: NotificationRequest, at moment: Timestamp
    ) async throws(PushError) -> NotificationOutcome {
        try await before(.other)
        return try await hub.schedule(request, at: moment)
    }

    package func cancel(scheduled id: String) async throws(PushError) {
        try await before(.other)
        try await hub.cancel(scheduled: id)
    }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        try await before(.other)
        return try await hub.finish(id)
    }

    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        try await before(.other)
        return try await hub.outcome(of: id)
    }
}
