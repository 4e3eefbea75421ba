/// A notification hub as its clients see it: embedded, on a server, or Azure's.
///
/// Errors: `hub.not_found` (404), `hub.installation` (409: the registration belongs to an installation), `hub.gone` (410: request a new
/// id), `hub.precondition_failed` (412), `hub.continuation`, `installation.*`, `time.too_far` and those of tags, templates, handles and
/// payloads (400; 413 for a size).
package protocol HubGateway: Sendable {
    func createRegistrationID() async throws(PushError) -> RegistrationID
    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration
    /// Creates or updates a registration. `ifMatch` is the expected ETag; nil writes unconditionally.
    func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration
    func registration(_ id: RegistrationID) async throws(PushError) -> Registration
    func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError)
    func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage

    func putInstallation(_ installation: Installation) async throws(PushError)
    func installation(_ id: String) async throws(PushError) -> Installation
    func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError)
    func deleteInstallation(_ id: String) async throws(PushError)
    /// Installations with their expiration times, including those with expired channels. Paged like registrations.
    func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage

    /// Sends immediately and returns when every device has a final result.
    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome
    func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome
    /// Throws `notification.not_found` if the id is unknown or the notification has started.
    func cancel(notification id: String) async throws(PushError)
    func outcome(of id: String) async throws(PushError) -> NotificationOutcome
    /// Waits for the notification to end if it is due or active. Returns immediately if it is still scheduled.
    func finish(_ id: String) async throws(PushError) -> NotificationOutcome
    /// Explains why a device did or did not show a notification, or counts devices by result.
    ///
    /// Throws `notification.not_found`, `notification.forgotten` and `device.not_found` (404), and `target.unsupported` if the hub does not
    /// support traces.
    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer

    /// Determines who would receive a notification, and what; sends nothing. Throws `target.unsupported` if the hub does not support plans.
    func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport
    /// Returns a stored plan. Throws `plan.not_found` (404), `plan.expired` (410), `target.unsupported`.
    func plan(_ id: String) async throws(PushError) -> PlanReport
    /// Sends immediately to exactly the devices of a plan. Throws `plan.*`, `target.unsupported`.
    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome
}

extension HubGateway {
    package func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { throw PushError.plansUnsupported }

    package func plan(_ id: String) async throws(PushError) -> PlanReport { throw PushError.plansUnsupported }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { throw PushError.plansUnsupported }
}

extension PushError {
    /// The error of a hub that does not support plans.
    package static let plansUnsupported = PushError(
        "target.unsupported", "this hub does not support plans: it can find registrations by one tag only",
        hint: "plan on the embedded target or on a PushHost; pushhost check --target azure lists what Azure would reject")
}

package enum RegistrationFilter: Sendable, Equatable {
    case all
    case tag(Tag)
    case handle(DeviceHandle)
    /// Registrations of browsers with this subscription endpoint.
    case endpoint(String)
}

package enum InstallationFilter: Sendable, Equatable {
    case all
    /// The user id of the installation, in any case.
    case user(String)
    /// A tag of the installation or of one of its templates, or `$InstallationId:{…}` or `$UserId:{…}`.
    case tag(Tag)
    case platform(Platform)
}

package struct Page: Sendable, Equatable {
    /// At most 100, as in Azure.
    package var top: Int
    package var continuation: String?

    package init(top: Int = 100, continuation: String? = nil) {
        self.top = top
        self.continuation = continuation
    }
}

package struct RegistrationPage: Sendable, Equatable {
    package var registrations: [Registration]
    /// Nil on the last page.
    package var continuation: String?

    package init(registrations: [Registration], continuation: String?) {
        self.registrations = registrations
        self.continuation = continuation
    }
}

package struct InstallationPage: Sendable, Equatable {
    package var installations: [Installation]
    /// Nil on the last page.
    package var continuation: String?

    package init(installations: [Installation], continuation: String?) {
        self.installations = installations
        self.continuation = continuation
    }
}

extension HubGateway {
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
