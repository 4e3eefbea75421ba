package import PushModel

/// A hub on another machine, through the interface of Azure Notification Hubs: Azure itself or a PushHost.
///
/// Errors of a PushHost keep their codes; for other hubs the code follows from the status. In addition to those of ``HubGateway``:
/// `target.unreachable`, `target.timeout`, `target.throttled`, `target.failed`, `target.refused`, `target.key`, `target.clock`.
package struct RemoteNotificationHub: HubGateway {
    private let hub: HubClient
    private let knownHandles = KnownHandles()
    /// The run's clock, on which outcomes are awaited.
    let clock: any HubClock
    private let options: Options

    package struct Options: Sendable {
        /// Whether the hub honours `Idempotency-Key` and has the JSON API in addition to Azure's.
        package var isPushHost: Bool
        /// Whether sends use the JSON API too: one request and one id for all platforms.
        package var usesJSONInterface: Bool
        /// Maximum time to wait for the outcome of a send; nil: no limit.
        package var outcomeWait: Duration?
        /// Lets the hub finish its work in progress, if time stands still meanwhile.
        package var settle: @Sendable () async throws(PushError) -> Void

        package init(
            isPushHost: Bool, usesJSONInterface: Bool = false, outcomeWait: Duration? = .seconds(10),
            settle: @escaping @Sendable () async throws(PushError) -> Void = {}
        ) {
            self.isPushHost = isPushHost
            self.usesJSONInterface = usesJSONInterface
            self.outcomeWait = outcomeWait
            self.settle = settle
        }
    }

    package struct AudienceSize: Sendable, Equatable {
        package var devices: Int
        /// Whether `devices` is only a lower bound.
        package var isAtLeast = false
    }

    package init(address: HubAddress, client: RemoteClient, clock: any HubClock, options: Options) {
        hub = HubClient(address: address, client: client)
        self.clock = clock
        self.options = options
    }

    package var address: HubAddress { hub.address }

    /// The error for a hub that does not exist.
    ///
    /// - Parameter others: The existing hubs, if known.
    package static func missing(_ hub: String, at host: String, others: [String] = []) -> PushError {
        HubClient.missing(hub, at: host, others: others)
    }

    /// Records a registration made in another way, through the app backend.
    package func note(_ registration: Registration) { knownHandles.note(registration) }

    /// The audience size; nil if the target cannot report it. Azure lists registrations by a single tag and does not evaluate expressions.
    package func audience(of request: NotificationRequest) async throws(PushError) -> AudienceSize? {
        try await AudienceCounter(hub: hub, registrations: registrations, isPushHost: options.isPushHost).size(for: request)
    }

    private var registrations: RemoteRegistrations { RemoteRegistrations(hub: hub, knownHandles: knownHandles) }
    private var installations: RemoteInstallations { RemoteInstallations(hub: hub, registrations: registrations) }
    private var sender: RemoteSender { RemoteSender(hub: hub, outcomes: outcomes) }
    private var planner: RemotePlanner { RemotePlanner(hub: hub, sender: sender, isPushHost: options.isPushHost) }

    private var outcomes: RemoteOutcomes {
        RemoteOutcomes(hub: hub, clock: clock, options: options, details: RemoteDeviceResults(hub: hub, knownHandles: knownHandles))
    }

    // MARK: - Registrations

    package func createRegistrationID() async throws(PushError) -> RegistrationID { try await registrations.createRegistrationID() }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await registrations.createRegistration(description)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await registrations.putRegistration(id, description, ifMatch: ifMatch)
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration { try await registrations.registration(id) }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await registrations.deleteRegistration(id, ifMatch: ifMatch)
    }

    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await registrations.registrations(filter, page: page)
    }

    // MARK: - Installations

    package func putInstallation(_ installation: Installation) async throws(PushError) {
        try await installations.putInstallation(installation)
    }

    package func installation(_ id: String) async throws(PushError) -> Installation { try await installations.installation(id) }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await installations.patchInstallation(id, operations)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) { try await installations.deleteInstallation(id) }

    /// Finds installations through their registrations, because the interface cannot list installations.
    ///
    /// An installation whose channel has expired has no registration and is not found.
    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        try await installations.installations(filter, page: page)
    }

    // MARK: - Notifications

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome { try await sender.send(request) }

    package func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await sender.schedule(request, at: dueTime)
    }

    package func cancel(notification id: String) async throws(PushError) { try await sender.cancel(notification: id) }

    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome { try await outcomes.outcome(of: id) }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome { try await outcomes.finish(id) }

    /// Waits for the outcome of a send that was accepted in another way, through the app backend.
    func finishAccepted(_ id: String) async throws(PushError) -> NotificationOutcome { try await outcomes.finishAccepted(id) }

    // MARK: - Plans and traces

    package func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { try await planner.plan(request) }

    package func plan(_ id: String) async throws(PushError) -> PlanReport { try await planner.plan(id) }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { try await planner.send(planned) }

    /// Throws `target.unsupported` if the hub is not a PushHost.
    package func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        try await RemoteTracer(hub: hub, options: options).trace(question)
    }
}
