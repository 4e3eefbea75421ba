/// The app backend of the tutorials, as devices see it.
///
/// Errors: `auth.failed` (401), `auth.session_expired` (401), `backend.*`, `secure.*`, and those of the hub, above all `hub.gone` (410) for
/// a registration id that can no longer be used.
package protocol BackendGateway: Sendable {
    /// Creates the account if it does not exist and if this backend manages accounts.
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
    /// `POST /api/register` as of 2013: one registration per installation id, tagged with it and with the user's name, then a test
    /// notification to that name. Throws `backend.installation_id` (400) for an id that is not a UUID.
    func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration
    /// `POST /api/notifications?pns=&to_tag=`: shows "From USER: TEXT" on the devices of `username`, on one platform, or on all if nil.
    ///
    /// Sends only to the tag `username:NAME`. The tutorials' sample sends to `username:NAME || from:USER`, so that any device with the tag
    /// `from:USER` would get a copy of everything that USER writes.
    func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome
    /// `POST /api/notifications` of the secure backend: stores the payload and sends only its id to the addressee's devices.
    ///
    /// Before storing or sending, throws `secure.lifetime`, `secure.maximum_reads`, `secure.payload` (400), `secure.too_large` (413, over
    /// 64 KiB of JSON) or `secure.too_many` (429: the addressee has 100 payloads, or 25 from this sender, and none was ever read; otherwise
    /// one that was read is expired early). If the push cannot be sent, nothing is stored or expired.
    func sendSecure(_ session: Session, _ request: SecureRequest) async throws(PushError) -> SecureReceipt
    /// `GET /api/notifications/{id}`. Only for the addressee.
    ///
    /// Throws `secure.not_found` (404), `secure.forbidden` (403), `secure.expired`, `secure.exhausted`,
    /// `secure.revoked` and `secure.sealed` (410).
    func securePayload(_ session: Session, id: String) async throws(PushError) -> JSON
    /// Makes the payload unreadable. For the sender or the addressee. Does nothing if it is already unreadable.
    func revokeSecurePayload(_ session: Session, id: String) async throws(PushError)
    /// The read attempts with their results, oldest first. For the sender and the addressee.
    func secureReads(_ session: Session, id: String) async throws(PushError) -> [SecureRead]
}

package enum AccountState: Sendable, Equatable {
    case created
    case exists
    /// Accounts are managed elsewhere; only `login` checks them.
    case notManaged
}

/// The result of registering the current user: the device's registration and the result of its test notification.
package struct CurrentUserRegistration: Sendable, Equatable {
    package var registration: Registration
    package var outcome: NotificationOutcome

    package init(registration: Registration, outcome: NotificationOutcome) {
        self.registration = registration
        self.outcome = outcome
    }
}
