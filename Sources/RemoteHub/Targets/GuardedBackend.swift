package import PushModel

/// An app backend that sends only what a check has approved.
package struct GuardedBackend: BackendGateway {
    private let base: any BackendGateway
    private let check: GuardedHub.Guard

    package init(_ base: any BackendGateway, check: @escaping GuardedHub.Guard) {
        self.base = base
        self.check = check
    }

    /// Checks a send to a user's devices, of one platform or of all.
    private func check(
        _ tag: String, _ platform: Platform? = nil, registering handle: DeviceHandle? = nil
    ) async throws(PushError) {
        guard let tag = Tag(validating: tag) else {
            throw PushError(
                "tag.invalid", "invalid tag \"\(tag)\": its recipients cannot be determined", hint: "name one user", status: 400)
        }
        let payloads = AlertPayloads.system(title: nil, text: "")
        try await check(
            NotificationRequest(
                audience: .expression(.tag(tag)), content: .native(payloads.filter { platform == nil || $0.key == platform })),
            handle)
    }

    package func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration {
        try await check(session.username, registering: handle)
        return try await base.registerCurrentUser(session, installationID: installationID, handle: handle)
    }

    package func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome {
        try await check("username:\(username)", platform)
        return try await base.notify(session, username: username, text: text, platform: platform)
    }

    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        try await check("username:\(request.username)")
        return try await base.sendSecure(session, request)
    }

    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState {
        try await base.ensureAccount(username: username, password: password)
    }
    package func login(username: String, password: Secret) async throws(PushError) -> Session {
        try await base.login(username: username, password: password)
    }
    package func logout(_ session: Session) async throws(PushError) { try await base.logout(session) }
    package func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID {
        try await base.registrationID(session, handle: handle)
    }
    package func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration { try await base.putRegistration(session, id, description) }
    package func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) {
        try await base.deleteRegistration(session, id)
    }
    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        try await base.securePayload(session, id: id)
    }
    package func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) {
        try await base.revokeSecurePayload(session, id: id)
    }
    package func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] {
        try await base.secureReads(session, id: id)
    }
}
