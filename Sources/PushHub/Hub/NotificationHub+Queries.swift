package import PushModel

// Everything that the hub only passes on: registrations, installations, removed devices, tags, notifications, plans and traces. The parts
// have the details.
extension NotificationHub {
    private var registrationEditor: RegistrationEditor { RegistrationEditor(directory: directory) }
    private var installationEditor: InstallationEditor { InstallationEditor(directory: directory) }
    private var searcher: DeviceSearcher { DeviceSearcher(directory: directory) }
    private var tagCatalogue: TagCatalogue { TagCatalogue(directory: directory) }
    private var prunedDevices: PrunedDevices { PrunedDevices(directory: directory) }
    var heldRemovalList: HeldRemovals { HeldRemovals(directory: directory) }
    var reader: NotificationLookup { NotificationLookup(services: services) }
    private nonisolated var storedPlans: StoredPlans { StoredPlans(environment: environment, store: store) }

    // MARK: - Registrations

    package func createRegistrationID() -> RegistrationID { registrationEditor.createID() }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await putRegistration(directory.newRegistrationID(), description, ifMatch: nil)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        try await putRegistration(id, description, ifMatch: ifMatch, mustExist: ifMatch != nil)
    }

    /// - Parameter mustExist: whether to throw `hub.not_found` instead of creating a registration.
    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?, mustExist: Bool
    ) async throws(PushError) -> Registration {
        try await registrationEditor.put(id, description, ifMatch: ifMatch, mustExist: mustExist, isImported: false)
    }

    /// Stores a registration from an import file, under a new id if `id` is nil. Does not call hooks: a file can have many lines.
    func importRegistration(_ id: RegistrationID?, _ description: RegistrationDescription) async throws(PushError) -> Registration {
        try await registrationEditor.put(
            id ?? directory.newRegistrationID(), description, ifMatch: nil, mustExist: false, isImported: true)
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration { try await registrationEditor.get(id) }

    func hasRegistration(_ id: RegistrationID) -> Bool { registrationEditor.exists(id) }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        try await registrationEditor.delete(id, ifMatch: ifMatch)
    }

    /// Lists registrations, with stable paging.
    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await registrationEditor.list(filter, page: page)
    }

    /// The numbers of registrations and installations.
    package func size() -> (registrations: Int, installations: Int) {
        directory.sweep()
        return (directory.table.count, directory.table.installationCount)
    }

    // MARK: - Installations

    /// Creates or replaces an installation.
    package func putInstallation(_ installation: Installation) async throws(PushError) {
        try await putInstallation(installation, refusing: { _ in nil })
    }

    /// - Parameter refusal: returns the error that rejects a change; called with the stored installation before anything changes.
    package func putInstallation(
        _ installation: Installation, refusing refusal: @Sendable (InstallationChange) -> PushError?
    ) async throws(PushError) {
        try await installationEditor.put(installation, refusing: refusal)
    }

    /// Stores an installation from an import. Does not call hooks: an import can have many devices.
    func importInstallation(_ installation: Installation) async throws(PushError) {
        try await installationEditor.put(installation, isImported: true, refusing: { _ in nil })
    }

    /// The installation with its effective expiration, set by the app or by the hub.
    package func installation(_ id: String) async throws(PushError) -> Installation { try await installationEditor.get(id) }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await patchInstallation(id, operations, refusing: { _ in nil })
    }

    /// - Parameter refusal: as in ``putInstallation(_:refusing:)``.
    package func patchInstallation(
        _ id: String, _ operations: [PatchOperation], refusing refusal: @Sendable (InstallationChange) -> PushError?
    ) async throws(PushError) {
        try await installationEditor.patch(id, operations, refusing: refusal)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) { try await installationEditor.delete(id) }

    /// Lists installations, with stable paging. Throws `tag.invalid` for an invalid user id, and `hub.continuation`.
    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        try await installationEditor.list(filter, page: page)
    }

    // MARK: - Search

    /// A page of the installations that match all criteria, each with the result of its last push.
    package func search(_ search: DeviceSearch, page: Page) async throws(PushError) -> InstallationSearchPage {
        try await searcher.installations(search, page: page)
    }

    /// A page of the standalone registrations that match all criteria. They belong to no installation.
    package func searchRegistrations(_ search: DeviceSearch, page: Page) async throws(PushError) -> RegistrationSearchPage {
        try await searcher.registrations(search, page: page)
    }

    /// The last result of an installation: a failed one if any of its registrations failed.
    package func lastOutcome(ofInstallation id: String) -> OutcomeName? { searcher.lastOutcome(ofInstallation: id) }

    /// Lists tags with a prefix, ignoring case, and the number of their registrations: most registrations first.
    package func tags(prefix: String, page: Page) async throws(PushError) -> TagPage {
        try await tagCatalogue.list(prefix: prefix, page: page)
    }

    /// Counts the registrations that match each part of an expression, in one snapshot.
    package nonisolated func count(_ expression: TagExpression) async -> TagCounts {
        let (snapshot, names) = await tagSnapshot(for: expression)
        // Evaluated outside the actor: a long expression over many registrations takes time.
        return snapshot.counts(of: expression, names)
    }

    private func tagSnapshot(for expression: TagExpression) async -> (TagCountSnapshot, [Tag]) {
        await tagCatalogue.snapshot(for: expression)
    }

    // MARK: - Removed devices

    /// Lists devices that can be restored, newest first, from below `number` or from the newest.
    package func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await prunedDevices.list(filter, below: number, limit: limit)
    }

    /// Restores pruned devices, newest first. Devices that registered again are left unchanged.
    ///
    /// - Parameter isDryRun: whether to report what would be restored, without a change.
    package func restore(_ filter: PrunedFilter, isDryRun: Bool = false) async throws(PushError) -> Restoration {
        try await prunedDevices.restore(filter, isDryRun: isDryRun)
    }

    /// Pruned devices that have not been acknowledged, oldest first.
    package func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] { try await store.unreportedPruned(limit: limit) }

    package func countUnreportedPruned() async throws(PushError) -> Int { try await store.countUnreportedPruned() }

    package func acknowledgePruned(upTo number: Int64) async throws(PushError) { try await store.acknowledgePruned(upTo: number) }

    /// Drops the oldest unacknowledged devices beyond `most`. Returns how many were dropped.
    package func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try await store.dropUnreportedPruned(beyond: most)
    }

    /// Number of devices whose removal is held. A device may have several registrations.
    package var heldRemovalCount: Int {
        var counter = HandleCounter()
        counter.add(directory.heldRows.rows, in: directory.table.columns)
        return counter.count
    }

    /// Lists held removals, newest first, from below `number` or from the newest.
    package func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval] {
        try await store.heldRemovals(filter, below: number, limit: limit)
    }

    /// Removes the devices of held removals, as if they had been removed when their notifications were rejected.
    package func applyHeldRemovals(_ filter: HeldRemovalFilter, isDryRun: Bool = false) async throws(PushError) -> HeldRemovalResult {
        try await heldRemovalList.apply(filter, isDryRun: isDryRun)
    }

    /// Drops held removals. Their devices stay registered.
    package func dropHeldRemovals(_ filter: HeldRemovalFilter, isDryRun: Bool = false) async throws(PushError) -> HeldRemovalResult {
        try await heldRemovalList.drop(filter, isDryRun: isDryRun)
    }

    /// Azure's feedback: lists removed devices, those of the latest notification first.
    package func feedback(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await store.removedDevices(after: position, limit: limit)
    }

    // MARK: - Notifications

    /// The outcome with its first 10,000 stored devices. The counts are complete.
    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome { try await reader.outcome(of: id) }

    /// The stored request and the current state, without devices.
    package func notification(_ id: String) async throws(PushError) -> StoredNotification { try await reader.notification(id) }

    /// Lists notifications, newest first, from below a sequence number or from the newest.
    /// - Parameter isScheduled: whether to list only those that wait for their due time.
    package func notifications(
        before sequence: Int64?, limit: Int, isScheduled: Bool = false
    ) async throws(PushError) -> [StoredNotification] {
        let scheduled = isScheduled ? scheduler.scheduled(before: sequence, limit: limit) : nil
        return try await reader.notifications(before: sequence, limit: limit, scheduled: scheduled)
    }

    /// A page of a notification's devices, in the order of their results, from index `start`.
    package func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome] {
        try await store.devices(ofNotification: sequence, from: start, limit: limit)
    }

    /// Waits until a notification has ended. Returns at once if it only waits for its due time.
    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome { try await scheduler.finish(id, reader) }

    /// Explains a delivery. Does not block the hub.
    package func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        try await DeliveryTracer(services: services, lastSequence: { [intake] in intake.lastSequence }).trace(question)
    }

    // MARK: - Plans

    package nonisolated func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { try await plan(request, by: nil) }

    /// A stored plan. Throws `plan.not_found` (404), `plan.expired` (410).
    package nonisolated func plan(_ id: String) async throws(PushError) -> PlanReport { try await planner.plan(id) }

    /// Lists plans that have not expired, newest first, from below a number or from the newest.
    package nonisolated func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try await storedPlans.plans(before: number, limit: limit)
    }

    /// The devices of a plan from index `start` on, in their current state. Throws `plan.not_found` (404), `plan.expired` (410).
    package nonisolated func devices(ofPlan id: String, from start: Int, limit: Int) async throws(PushError) -> [PlannedDevice] {
        try await planner.devices(ofPlan: id, from: start, limit: limit)
    }

    /// Resolves a planned send to a request. Throws `plan.not_found` (404), `plan.expired` (410), `plan.content` (409).
    package nonisolated func request(_ planned: PlannedSend) async throws(PushError) -> NotificationRequest {
        try await planner.request(planned)
    }

    /// Renders a send without sending or storing anything. Throws what `send` would: `payload.*` and `handle.invalid`.
    /// - Parameter limit: maximum number of groups that are listed.
    package nonisolated func preview(_ request: NotificationRequest, limit: Int = 100) async throws(PushError) -> SendPreview {
        // Rendered outside the actor, which stays free for other calls.
        try await previewSnapshot(request).rendered(limit: limit)
    }

    private func previewSnapshot(_ request: NotificationRequest) async throws(PushError) -> PreviewSnapshot {
        try await PlanSurveyor(services: services).preview(request)
    }

    package func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach? {
        var targets: ResolvedTargets?
        return await reach(of: request, beyond: number, &targets)
    }

    package func reach(of request: NotificationRequest) async -> AudienceReach {
        var targets: ResolvedTargets?
        return await reach(of: request, &targets)
    }
}
