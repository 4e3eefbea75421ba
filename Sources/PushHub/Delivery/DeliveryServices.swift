import PushModel

/// The parts that the deliveries of a hub share: the registrations, the stored plans, the notifications in progress, and the pipeline.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
final class DeliveryServices {
    let context: HubContext
    let directory: RegistrationDirectory
    let plans: StoredPlans
    let active: ActiveNotifications
    /// Replaced when the connectors change. Notifications in progress keep sending with the one they started with.
    var pipeline: SendPipeline

    init(_ context: HubContext, _ directory: RegistrationDirectory, pipeline: SendPipeline) {
        (self.context, self.directory, self.pipeline) = (context, directory, pipeline)
        plans = StoredPlans(environment: context.environment, store: context.store)
        active = ActiveNotifications(context)
    }

    /// The devices of the request's plan; nil without a plan.
    func plannedAudience(of request: NotificationRequest, _ id: String) async -> (audience: PlannedAudience?, isLost: Bool) {
        await plans.audience(of: request, id, context)
    }

    /// The targets of a request among the registrations of now.
    func targets(of request: NotificationRequest) -> Targets { TargetFinder(directory).targets(of: request) }

    /// The targets of a request among the registrations of now that belong to its plan, or among all if it has none.
    ///
    /// - Parameter plan: the devices of the request's plan; nil if it has none, or if the plan is lost: then there are no targets.
    func targets(of request: NotificationRequest, in plan: PlannedAudience?) -> Targets {
        guard request.plan != nil else { return targets(of: request) }
        // Devices that registered after the plan was made are not targets.
        let rows = plan.map { PlannedAudienceFinder(table: directory.table).rows(of: $0) } ?? []
        return TargetFinder(directory).targets(of: request, among: rows)
    }

    /// Like ``targets(of:in:)``. The targets in `resolved` are used if they are still current, and otherwise replaced by those of now.
    func targets(of request: NotificationRequest, in plan: PlannedAudience?, _ resolved: inout ResolvedTargets?) -> Targets {
        let revision = directory.table.revision
        if let current = resolved?.targets(of: request, revision) { return current }
        let found = targets(of: request, in: plan)
        // A plan that is lost now may be read later.
        let isLost = request.plan != nil && plan == nil
        resolved = isLost ? nil : ResolvedTargets(found, of: request, among: request.plan?.id, revision: revision)
        return found
    }

    /// Validates a request against the platforms of its targets, of its plan or not. Throws `payload.*` and `handle.invalid`.
    ///
    /// - Parameter resolved: as in ``targets(of:in:_:)``.
    func checked(_ request: NotificationRequest, _ resolved: inout ResolvedTargets?) throws(PushError) -> NotificationRequest {
        try checked(request, reaching: request.plan == nil ? targets(of: request, in: nil, &resolved) : targets(of: request))
    }

    /// Validates a request against the platforms of its targets. Throws `payload.*` and `handle.invalid`.
    func checked(_ request: NotificationRequest, reaching targets: Targets) throws(PushError) -> NotificationRequest {
        let reached = targets.platforms
        return try request.checked(
            reaching: reached.isEmpty ? nil : reached, refusingLarge: context.settings.acceptance.refusesLargePayloads)
    }

    /// The devices that are still registered in these rows. Retries until the hub stops, and leaves out rows that cannot be read.
    func hookedDevices(at rows: [UInt32]) async -> [HookedDevice] {
        var pause = HubContext.firstPause
        while !context.isStopping, !Task.isCancelled {
            do throws(PushError) {
                return try await directory.rows(stillAt: rows).map(HookedDevice.init)
            } catch {
                context.environment.warn(.delivery, "devices cannot be read: \(error.message)")
                if !error.isRetryable { break }
                await context.backOff(&pause)
            }
        }
        guard rows.count > 1, !context.isStopping, !Task.isCancelled else { return [] }
        var found: [HookedDevice] = []
        for row in rows { found += await hookedDevices(at: [row]) }
        return found
    }
}

extension HookedDevice {
    fileprivate init(_ row: RegistrationRow) {
        let registration = row.registration
        self.init(
            number: row.row, registrationID: registration.id, installationID: registration.installationID, tags: registration.tags,
            templateName: registration.template?.name)
    }
}
