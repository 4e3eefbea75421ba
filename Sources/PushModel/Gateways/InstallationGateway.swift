/// The installations of a hub.
package protocol InstallationGateway: Sendable {
    func putInstallation(_ installation: Installation) async throws(PushError)
    func installation(_ id: String) async throws(PushError) -> Installation
    func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError)
    func deleteInstallation(_ id: String) async throws(PushError)
    /// Installations with their expiration times, including those with expired channels. Paged like registrations.
    func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage
}
