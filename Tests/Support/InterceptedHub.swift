package import PushModel

/// A hub on which code runs before a call arrives: a concurrent change, or an error.
package struct InterceptedHub: ForwardingHub {
    package enum Call: Sendable, Equatable {
        case createRegistrationID, createRegistration, registration, registrations, send
        case putRegistration(RegistrationID)
        case deleteRegistration(RegistrationID)

        package var isPut: Bool { if case .putRegistration = self { true } else { false } }
        package var isDelete: Bool { if case .deleteRegistration = self { true } else { false } }
    }

    package let base: any HubGateway
    private let before: @Sendable (Call) async throws(PushError) -> Void

    package init(_ hub: any HubGateway, before: @escaping @Sendable (Call) async throws(PushError) -> Void) {
        base = hub
        self.before = before
    }

    package func createRegistrationID() async throws(PushError) -> RegistrationID {
        try await before(.createRegistrationID)
        return try await base.createRegistrationID()
    }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await before(.createRegistration)
        return try await base.createRegistration(description)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await before(.putRegistration(id))
        return try await base.putRegistration(id, description, ifMatch: ifMatch)
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        try await before(.registration)
        return try await base.registration(id)
    }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await before(.deleteRegistration(id))
        try await base.deleteRegistration(id, ifMatch: ifMatch)
    }

    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await before(.registrations)
        return try await base.registrations(filter, page: page)
    }

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await before(.send)
        return try await base.send(request)
    }

    package func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await base.schedule(request, at: dueTime)
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { try await base.send(planned) }

    package func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}
