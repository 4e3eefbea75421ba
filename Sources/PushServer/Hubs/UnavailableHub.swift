import PushModel

/// A hub that rejects every call, for code that runs before a hub exists: plugins during server start, and the declarations of flows.
struct UnavailableHub: HubGateway {
    private var refusal: PushError {
        PushError(
            "hub.stopped", "no hub is open yet: the server is starting", hint: "try again in a few seconds", status: 503, isRetryable: true)
    }

    func createRegistrationID() async throws(PushError) -> RegistrationID { throw refusal }
    func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration { throw refusal }
    func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration { throw refusal }
    func registration(_ id: RegistrationID) async throws(PushError) -> Registration { throw refusal }
    func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) { throw refusal }
    func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage { throw refusal }
    func putInstallation(_ installation: Installation) async throws(PushError) { throw refusal }
    func installation(_ id: String) async throws(PushError) -> Installation { throw refusal }
    func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) { throw refusal }
    func deleteInstallation(_ id: String) async throws(PushError) { throw refusal }
    func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage { throw refusal }
    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome { throw refusal }
    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome { throw refusal }
    func cancel(notification id: String) async throws(PushError) { throw refusal }
    func outcome(of id: String) async throws(PushError) -> NotificationOutcome { throw refusal }
    func finish(_ id: String) async throws(PushError) -> NotificationOutcome { throw refusal }
    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer { throw refusal }
    func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { throw refusal }
    func plan(_ id: String) async throws(PushError) -> PlanReport { throw refusal }
    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { throw refusal }
}
