package import PushModel

/// A remote app backend while a flow is planned. Logins are real; everything else is simulated or planned.
package struct PlanningBackend: BackendGateway {
    private let base: any AccountGateway
    private let hub: PlanningHub
    private let clock: any HubClock

    package init(_ base: any AccountGateway, hub: PlanningHub, clock: any HubClock) {
        (self.base, self.hub, self.clock) = (base, hub, clock)
    }

    /// Creates no account. `login` shows whether the account exists.
    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState { .notManaged }

    package func login(username: String, password: Secret) async throws(PushError) -> Session {
        try await base.login(username: username, password: password)
    }

    package func logout(_ session: Session) async throws(PushError) { try await base.logout(session) }

    package func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID {
        try await hub.createRegistrationID()
    }

    package func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration {
        var description = description
        description.tags.append(try Tag.ofUser(session.username))
        return try await hub.putRegistration(id, description, ifMatch: nil)
    }

    package func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) {
        try await hub.deleteRegistration(id, ifMatch: nil)
    }

    package func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration {
        let registration = try await putRegistration(
            session, try await hub.createRegistrationID(), RegistrationDescription(handle: handle))
        return CurrentUserRegistration(
            registration: registration,
            outcome: try await notify(session, username: session.username, text: "registered", platform: handle.platform))
    }

    package func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome {
        let payloads = AlertPayloads.backend(text: "From \(session.username): \(text)")
        return try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(try Tag.ofUser(username))),
                content: .native(payloads.filter { platform == nil || $0.key == platform })))
    }

    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        // Same length as real ids, so that the payload size is right.
        let id = String(repeating: "0", count: 32)
        let outcome = try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(try Tag.ofUser(request.username))), content: .native(WakePayloads.secure(id: id))))
        return SecureReceipt(id: id, expiration: clock.now + (request.lifetime ?? .seconds(3600)), outcome: outcome)
    }

    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        throw PushError(
            "secure.not_found", "unknown secure payload \"\(id)\": planning neither stores nor reads payloads, because each read counts",
            hint: "read it inside push.rehearse, which planning skips", status: 404)
    }

    package func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) {}

    package func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] { [] }
}
