package import PushModel

/// The app backend of the tutorials on top of a hub: accounts, registration by handle (2014) and by installation (2013), notifications to
/// users, secure push.
package actor AppBackend: BackendGateway {
    let environment: HubEnvironment
    let accounts: AccountService
    let hub: any RegistrationGateway & NotificationSender
    let securePayloads: SecurePayloadService

    package init(
        environment: HubEnvironment, accounts: AccountService, hub: any RegistrationGateway & NotificationSender,
        securePayloads: SecurePayloadService
    ) {
        self.environment = environment
        self.accounts = accounts
        self.hub = hub
        self.securePayloads = securePayloads
    }

    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState {
        try await accounts.ensureAccount(username: username, password: password)
    }

    package func login(username: String, password: Secret) async throws(PushError) -> Session {
        do throws(PushError) {
            return try await accounts.login(username: username, password: password)
        } catch {
            var error = error
            if error.code == "auth.failed" { error.hint = "check both; push.account{…} creates an account if there is none" }
            throw error
        }
    }

    package func logout(_ session: Session) async throws(PushError) {
        try await accounts.logout(session.token)
    }

    /// Keeps the first registration of the handle and deletes the others, so that a handle has one. Registrations of installations are
    /// left unchanged.
    package func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID {
        try await registrationID(session, handles: [handle])
    }

    /// Like `registrationID(_:handle:)` for a device whose handle may be of several platforms; without handles, a new id.
    package func registrationID(_ session: Session, handles: [DeviceHandle]) async throws(PushError) -> RegistrationID {
        _ = try await accounts.session(for: session.token)
        var found: [Registration] = []
        for handle in handles { found += try await hub.allRegistrations(.handle(handle)).filter { $0.installationID == nil } }
        for registration in found.dropFirst() {
            try await ignoringNotFound { () async throws(PushError) in
                try await hub.deleteRegistration(registration.id, ifMatch: nil)
            }
        }
        if let first = found.first { return first.id }
        return try await hub.createRegistrationID()
    }

    /// Stores a registration, and adds the tag of the session's user to it. Throws `backend.reserved_tag` for a tag that only the backend
    /// or the hub may set, and `backend.forbidden` for the registration of another user's device.
    package func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration {
        let session = try await accounts.session(for: session.token)
        var description = description
        description.handle = try description.handle.checked()
        for tag in description.tags { try refuseReserved(tag, username: session.username) }
        let own = try Tag.ofUser(session.username)
        description.tags.append(own)
        var existing = try await hub.existingRegistration(id)
        var tries = 1
        while true {
            // Holding the handle proves holding the device, so another user may log in on it.
            if let existing, existing.handle != description.handle, !existing.tags.contains(own) {
                throw forbidden(id, hint: "request the id for this device's handle")
            }
            do {
                return try await hub.putRegistration(id, description, ifMatch: existing?.etag)
            } catch  where error.code == "hub.precondition_failed" && tries < CurrentUserRegistrar.maximumTries {
                tries += 1
                existing = try await hub.existingRegistration(id)
            }
        }
    }

    package func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) {
        let session = try await accounts.session(for: session.token)
        let registration = try await hub.registration(id)
        guard registration.tags.contains(try Tag.ofUser(session.username)) else {
            throw forbidden(id, hint: "delete only registrations of this user")
        }
        try await hub.deleteRegistration(id, ifMatch: registration.etag)
    }

    package func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome {
        let session = try await accounts.session(for: session.token)
        let payloads = AlertPayloads.backend(text: "From \(session.username): \(text)")
        return try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(try Tag.ofUser(username))),
                content: .native(payloads.filter { platform == nil || $0.key == platform })))
    }

    /// Sends "Hello, USER" to the devices of the session's user, as native payloads ("notify users") or as the property `message` of a
    /// template notification ("cross-platform notify users").
    package func greet(_ session: Session, asTemplate: Bool) async throws(PushError) -> NotificationOutcome {
        let session = try await accounts.session(for: session.token)
        let text = "Hello, \(session.username)"
        return try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(try Tag.ofUser(session.username))),
                content: asTemplate ? .template([AlertPayloads.greetingProperty: text]) : .native(AlertPayloads.greeting(text: text))))
    }

    // MARK: - Registration by installation (2013)

    /// Registers a device for the session's user and sends a test notification to that user.
    ///
    /// The device's registration is the first one with the installation id that has either the device's handle (holding the handle proves
    /// holding the device) or the same tags, so the same user. Other registrations of that kind are deleted. Those of another user with
    /// another handle are left unchanged: knowing an installation id must not suffice to unregister a device. So are templates and
    /// registrations of installations, which this call never creates.
    ///
    /// Any device may set a user's bare name as a tag, and a topic may have the same name, so nothing private is sent to it.
    ///
    /// Throws `backend.installation_id` for an id that is not a UUID, as it could be another user's name, and `backend.reserved_tag` for a
    /// user whose bare name, as a tag, would address other devices.
    package func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration {
        let session = try await accounts.session(for: session.token)
        return try await CurrentUserRegistrar(hub: hub).register(session.username, installationID: installationID, handle: handle)
    }

    // MARK: - Secure push: the payload stays in the backend; only its id is sent through push services

    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt {
        let session = try await accounts.session(for: session.token)
        let stored = try await securePayloads.save(request, from: session.username)
        let payload = stored.payload
        // A push for an expired payload is useless, so both expire together.
        let push = NotificationRequest(
            audience: .expression(.tag(payload.recipient)), content: .native(WakePayloads.secure(id: payload.id)),
            options: PushOptions(expiration: payload.expiration))
        do {
            let outcome = try await hub.send(push)
            return SecureReceipt(id: payload.id, expiration: payload.expiration, outcome: outcome)
        } catch {
            // If this fails too, an unread payload remains until it expires. The sender must get the first error.
            try? await securePayloads.discard(stored)
            throw error
        }
    }

    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.read(id, by: session.username)
    }

    /// The sealed payloads that the user can still read, earliest expiration first. They show ids that a device has lost.
    package func readableSecurePayloads(_ session: Session) async throws(PushError) -> [SealedPayload] {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.readable(by: session.username)
    }

    package func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) {
        let session = try await accounts.session(for: session.token)
        try await securePayloads.revoke(id, by: session.username)
    }

    package func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] {
        let session = try await accounts.session(for: session.token)
        return try await securePayloads.reads(of: id, for: session.username)
    }

    // MARK: - Errors

    private func refuseReserved(_ tag: Tag, username: String) throws(PushError) {
        if tag.isUserTag {
            throw PushError(
                "backend.reserved_tag", "the tag \"\(tag)\" is reserved for the backend",
                hint: "omit it: the backend adds username:\(username)", status: 400)
        }
        if tag.reservedForm != nil {
            throw PushError(
                "backend.reserved_tag", "the tag \"\(tag)\" is reserved for the hub",
                hint: "omit it", status: 400)
        }
    }

    private func forbidden(_ id: RegistrationID, hint: String) -> PushError {
        PushError("backend.forbidden", "registration \(id) belongs to another user", hint: hint, status: 403)
    }

    private func ignoringNotFound(_ work: () async throws(PushError) -> Void) async throws(PushError) {
        do {
            try await work()
        } catch  where error.code == "hub.not_found" {
            return
        }
    }
}
