package import PushModel

/// The app backend of a target for which none is configured.
package struct UnavailableBackend: BackendGateway {
    private let target: String

    package init(target: String) { self.target = target }

    private var missing: PushError {
        PushError(
            "target.unsupported", "no app backend is configured for \(target)",
            hint: "name it with --backend, or under backend in the settings")
    }

    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState { .notManaged }
    package func login(username: String, password: Secret) async throws(PushError) -> Session { throw missing }
    package func logout(_ session: Session) async throws(PushError) { throw missing }
    package func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID { throw missing }
    package func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration { throw missing }
    package func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError) { throw missing }
    package func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration { throw missing }
    package func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome { throw missing }
    package func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt { throw missing }
    package func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON { throw missing }
    package func revokeSecurePayload(_ session: Session, id: String) async throws(PushError) { throw missing }
    package func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead] { throw missing }
}
