/// The notification hub as its clients see it: the embedded one, a served one, or Azure's.
///
/// Errors: `hub.not_found` (404), `hub.installation` (409: the registration stands for an installation), `hub.gone`
/// (410: ask for a new id), `hub.precondition_failed` (412), `hub.continuation`, `installation.*`, `time.too_far` and
/// those of tags, templates, handles and payloads (400; 413 for a size).
package protocol HubGateway: Sendable {
    func createRegistrationID() async throws(PushError) -> RegistrationID
    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration
    /// Creates or updates. `ifMatch` is the expected ETag; nil writes in any case.
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
    /// With the moments at which they expire, also those whose channel has expired. In pages like registrations.
    func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage

    /// Sends at once and answers when every device has its verdict.
    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome
    func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome
    /// Throws `notification.not_found` when the id is unknown or has run.
    func cancel(notification id: String) async throws(PushError)
    func outcome(of id: String) async throws(PushError) -> NotificationOutcome
    /// Answers how a notification ended when it is due or under way, and at once when it still waits for its time.
    func finish(_ id: String) async throws(PushError) -> NotificationOutcome
    /// Why a device shows a notification, or does not; or how many ended how.
    ///
    /// Throws `notification.not_found`, `notification.forgotten` and `device.not_found` (404), and `target.unsupported` where a hub does
    /// not tell.
    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer

    /// Who would get it, and what; nothing is sent. Throws `target.unsupported` where the hub cannot say so.
    func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport
    /// A plan as it is kept. Throws `plan.not_found` (404), `plan.expired` (410), `target.unsupported`.
    func plan(_ id: String) async throws(PushError) -> PlanReport
    /// Sends at once to the devices of a plan and to nobody else. Throws `plan.*`, `target.unsupported`.
    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome
}

extension HubGateway {
    package func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { throw PushError.noPlans }

    package func plan(_ id: String) async throws(PushError) -> PlanReport { throw PushError.noPlans }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { throw PushError.noPlans }
}

extension PushError {
    /// Of a hub that cannot say whom a send would reach.
    package static let noPlans = PushError(
        "target.unsupported", "this hub cannot say who would get a notification: it knows registrations by one tag at a time",
        hint: "plan on the embedded target, or on a PushHost; check asks Azure what it would refuse")
}

package enum RegistrationFilter: Sendable, Equatable {
    case all
    case tag(Tag)
    case handle(DeviceHandle)
    /// Browsers' registrations, by the endpoint of their subscription.
    case endpoint(String)
}

package enum InstallationFilter: Sendable, Equatable {
    case all
    /// By the user id of the installation, in any case.
    case user(String)
    /// Its own tag, one of its templates' tags, or `$InstallationId:{…}` or `$UserId:{…}`.
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
    /// Present when there is more.
    package var continuation: String?

    package init(registrations: [Registration], continuation: String?) {
        self.registrations = registrations
        self.continuation = continuation
    }
}

package struct InstallationPage: Sendable, Equatable {
    package var installations: [Installation]
    /// Present when there is more.
    package var continuation: String?

    package init(installations: [Installation], continuation: String?) {
        self.installations = installations
        self.continuation = continuation
    }
}

extension HubGateway {
    /// Every page in one list, for filters that name few.
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
