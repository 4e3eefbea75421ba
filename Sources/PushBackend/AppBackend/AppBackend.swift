import PushModel

/// The app backend of the tutorials on top of a hub: accounts, registration by handle (2014) and by installation (2013), notifications to
/// users, secure push.
package actor AppBackend: BackendGateway {
    let environment: HubEnvironment
    let accounts: AccountService
    let hub: any HubGateway
    let securePayloads: SecurePayloadService

    package init(
        environment: HubEnvironment, accounts: AccountService, hub: any HubGateway, securePayloads: SecurePayloadService
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
        var existing = try await existingRegistration(id)
        var tries = 1
        while true {
            // Holding the handle proves holding the device, so another user may log in on it.
            if let existing, existing.handle != description.handle, !existing.tags.contains(own) {
                throw forbidden(id, hint: "request the id for this device's handle")
            }
            do {
                return try await hub.putRegistration(id, description, ifMatch: existing?.etag)
            } catch  where error.code == "hub.precondition_failed" && tries < Self.maximumTries {
                tries += 1
                existing = try await existingRegistration(id)
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

    /// Maximum number of attempts to update a registration that other calls update at the same time.
    static let maximumTries = 50

    func existingRegistration(_ id: RegistrationID) async throws(PushError) -> Registration? {
        do {
            return try await hub.registration(id)
        } catch  where error.code == "hub.not_found" {
            return nil
        }
    }

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
