/// Registers devices of logged-in users through an app backend.
package protocol DeviceRegistrationGateway: Sendable {
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
}
