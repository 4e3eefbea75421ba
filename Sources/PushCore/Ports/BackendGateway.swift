/// The app backend of the tutorials as a device sees it.
///
/// Errors: `auth.failed` (401), `auth.session_expired` (401), `backend.*`, `secure.*`, and those of the hub behind it,
/// above all `hub.gone` (410) for a registration id that is no longer usable.
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
    /// `POST /api/register` of 2013: one registration per installation id, tagged with it and with the user's name, then
    /// a test notification to that name. Throws `backend.installation_id` (400) for an id that is no UUID.
    func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration
    /// `POST /api/notifications?pns=&to_tag=`: shows "From USER: TEXT" on the devices of `username`, on one platform or,
    /// for nil, on all.
    ///
    /// Goes to the tag `username:NAME` alone. The tutorials' sample sends to `username:NAME || from:USER`, and any device
    /// that gave itself the tag `from:USER` would get a copy of everything that USER writes.
    func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome
    /// `POST /api/notifications` of the secure backend: keeps the payload, sends its id alone to the addressee's devices.
    ///
    /// Throws before anything is kept or sent `secure.lifetime`, `secure.maximum_reads`, `secure.payload` (400),
    /// `secure.too_large` (413, over 64 KiB of JSON) and `secure.too_many` (429, the addressee has 100, or 25 of the
    /// same other user, none of which was ever read; else one that was gives way). When the push cannot be sent, nothing is kept, and
    /// nothing has given way.
    func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt
    /// `GET /api/notifications/{id}`, for the addressee alone.
    ///
    /// Throws `secure.not_found` (404), `secure.forbidden` (403), `secure.expired`, `secure.exhausted`,
    /// `secure.revoked` and `secure.sealed` (410).
    func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON
    /// Makes the payload unreadable; by the sender or the addressee. One that is unreadable already stays as it is.
    func revokeSecurePayload(_ session: Session, id: String) async throws(PushError)
    /// Who tried to read it and how that ended, oldest first; for the sender and the addressee.
    func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead]
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

/// What registering the current user gives: the device's registration, and how its test notification ended.
package struct CurrentUserRegistration: Sendable, Equatable {
    package var registration: Registration
    package var outcome: NotificationOutcome

    package init(registration: Registration, outcome: NotificationOutcome) {
        self.registration = registration
        self.outcome = outcome
    }
}
