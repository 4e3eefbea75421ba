import PushModel

/// A hub that changes requests or results, so that specs can be shown to notice the fault.
struct FaultyHub: ForwardingHub {
    var base: any HubGateway
    var storing: @Sendable (RegistrationDescription) throws(PushError) -> RegistrationDescription = { $0 }
    var sending: @Sendable (NotificationRequest) throws(PushError) -> NotificationRequest = { $0 }
    var answering: @Sendable (NotificationOutcome) -> NotificationOutcome = { $0 }
    var listing: @Sendable (RegistrationPage) -> RegistrationPage = { $0 }
    /// How many times each notification is sent.
    var copies = 1
    var deletes = true

    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await base.createRegistration(try storing(description))
    }

    func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await base.putRegistration(id, try storing(description), ifMatch: ifMatch)
    }

    func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        if deletes { try await base.deleteRegistration(id, ifMatch: ifMatch) }
    }

    func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        listing(try await base.registrations(filter, page: page))
    }

    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        let request = try sending(request)
        for _ in 1..<copies { _ = try await base.send(request) }
        return answering(try await base.send(request))
    }

    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await base.schedule(try sending(request), at: dueTime)
    }

    func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        answering(try await base.finish(id))
    }

    func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        answering(try await base.outcome(of: id))
    }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { try await base.send(planned) }

    func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}

/// A backend that does not protect secure payloads.
struct FaultyBackend: BackendGateway {
    var inner: any BackendGateway
    var hub: any NotificationSender
    /// Also sends the payload itself in a push.
    var leaks = false
    /// Lets any user read any payload.
    var isOpen = false
    /// Changes the request, such as the number of reads.
    var keeping: @Sendable (SecureRequest) -> SecureRequest = { $0 }

    func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState {
        try await inner.ensureAccount(username: username, password: password)
    }

    func login(username: String, password: Secret) async throws(PushError) -> Session {
        try await inner.login(username: username, password: password)
    }

    func logout(_ session: Session) async throws(PushError) { try await inner.logout(session) }

    func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID {
        try await inner.registrationID(session, handle: handle)
    }

    func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration {
        try await inner.putRegistration(session, id, description)
    }

    func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) {
        try await inner.deleteRegistration(session, id)
    }

    func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration {
        try await inner.registerCurrentUser(session, installationID: installationID, handle: handle)
    }

    func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome {
        try await inner.notify(session, username: username, text: text, platform: platform)
    }

    func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        if leaks {
            let body = JSON.object(["aps": ["content-available": 1], "secret": request.payload]).serialized()
            _ = try await hub.send(
                NotificationRequest(
                    audience: .expression(try expression(of: request.username)),
                    content: .native([.apns: NativePayload(body: body)])))
        }
        return try await inner.sendSecure(session, keeping(request))
    }

    func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        guard isOpen else { return try await inner.securePayload(session, id: id) }
        do {
            return try await inner.securePayload(session, id: id)
        } catch  where error.code == "secure.forbidden" {
            return ["text": "whatever it is"]
        }
    }

    func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) {
        try await inner.revokeSecurePayload(session, id: id)
    }

    func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] {
        try await inner.secureReads(session, id: id)
    }

    private func expression(of username: String) throws(PushError) -> TagExpression {
        do throws(TagExpressionError) {
            return try TagExpression(parsing: "username:\(username)")
        } catch {
            throw PushError(error)
        }
    }
}
