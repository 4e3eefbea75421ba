/// The app backend of the tutorials as a device sees it.
///
/// Errors: `auth.failed` (401), `auth.session_expired` (401), `backend.*`, and those of the hub behind it, above all
/// `hub.gone` (410) for a registration id that is no longer usable.
package protocol BackendGateway: Sendable {
    /// Makes sure that the account exists, where accounts are ours to make.
    func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState
    func login(username: String, password: Secret) async throws(PushError) -> Session
    func logout(_ session: Session) async throws(PushError)
    /// `POST /api/register?handle=`: the id of the handle's registration, a new one if there is none.
    func registrationID(_ session: Session, handle: DeviceHandle) async throws(PushError) -> RegistrationID
    /// `PUT /api/register/{id}`: stores the registration and adds the tag `username:<user>`.
    func putRegistration(
        _ session: Session, _ id: RegistrationID, _ description: RegistrationDescription
    ) async throws(PushError) -> Registration
    /// `DELETE /api/register/{id}`
    func deleteRegistration(_ session: Session, _ id: RegistrationID) async throws(PushError)
    /// `POST /api/notifications`: sends to the devices of `username`, the session's own user for nil.
    func notify(_ session: Session, username: String?, text: String) async throws(PushError) -> NotificationOutcome
}

package enum AccountState: Sendable, Equatable {
    case created
    case exists
    /// Accounts are managed elsewhere; `login` decides.
    case notManaged
}

/// A user who has proved who they are.
package struct Session: Sendable, Equatable {
    package var username: String
    package var token: Secret
    package var expiration: Timestamp

    package init(username: String, token: Secret, expiration: Timestamp) {
        self.username = username
        self.token = token
        self.expiration = expiration
    }
}
