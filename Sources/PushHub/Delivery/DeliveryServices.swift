import PushModel

/// What the deliveries of a hub share: the registrations, the stored plans, the notifications in progress, and the pipeline.
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

    /// The targets of a request among the registrations of now. Earlier ones are reused unless the registrations have changed since.
    ///
    /// - Parameter planned: rows of the plan's registrations, ascending; nil without a plan.
    func targets(of request: NotificationRequest, among planned: [UInt32]? = nil, reusing resolved: ResolvedTargets? = nil) -> Targets {
        if planned == nil, let resolved, resolved.fits(request, directory.table.revision) { return resolved.targets }
        return pipeline.targets(of: request, in: directory.table, among: planned)
    }

    /// Validates a request against the platforms of its current targets, and returns the targets to be used again. Throws `payload.*` and
    /// `handle.invalid`.
    func checked(_ request: NotificationRequest) throws(PushError) -> (request: NotificationRequest, targets: ResolvedTargets) {
        let targets = pipeline.targets(of: request, in: directory.table)
        let reached = targets.platforms
        return (
            try request.checked(
                reaching: reached.isEmpty ? nil : reached, refusingLarge: context.settings.acceptance.refusesLargePayloads),
            ResolvedTargets(targets, of: request, revision: directory.table.revision)
        )
    }

    /// The devices that are still registered in these rows. Retries until the hub stops, and leaves out rows that cannot be read.
    func hookedDevices(at places: [UInt32]) async -> [HookedDevice] {
        var pause = HubContext.firstPause
        while !context.isStopping, !Task.isCancelled {
            do throws(PushError) {
                return try await directory.rows(stillAt: places).map(HookedDevice.init)
            } catch {
                context.environment.warn(.delivery, "devices cannot be read: \(error.message)")
                if !error.isRetryable { break }
                await context.backOff(&pause)
            }
        }
        guard places.count > 1, !context.isStopping, !Task.isCancelled else { return [] }
        var found: [HookedDevice] = []
        for place in places { found += await hookedDevices(at: [place]) }
        return found
    }
}

extension HookedDevice {
    fileprivate init(_ row: RegistrationRow) {
        let registration = row.registration
        self.init(
            number: row.place, registrationID: registration.id, installationID: registration.installationID, tags: registration.tags,
            templateName: registration.template?.name)
    }
}
