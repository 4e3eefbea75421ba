/// The registrations of a hub.
package protocol RegistrationGateway: Sendable {
    func createRegistrationID() async throws(PushError) -> RegistrationID
    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration
    /// Creates or updates a registration. `ifMatch` is the expected ETag; nil writes unconditionally.
    func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration
    func registration(_ id: RegistrationID) async throws(PushError) -> Registration
    func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError)
    func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage
}

extension RegistrationGateway {
    /// All pages in one list. Only for filters that match few registrations.
    package func allRegistrations(_ filter: RegistrationFilter) async throws(PushError) -> [Registration] {
        var found: [Registration] = []
        var page = Page()
        repeat {
            let answer = try await registrations(filter, page: page)
            found += answer.registrations
            page.continuation = answer.continuation
        } while page.continuation != nil
        return found
    }
}
