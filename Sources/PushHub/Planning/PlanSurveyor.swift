import PushModel

/// Takes the snapshots from which plans and previews are made.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct PlanSurveyor {
    let services: DeliveryServices

    private var directory: RegistrationDirectory { services.directory }

    /// Takes a snapshot of the audience. Everything that must be consistent is read without a suspension.
    func snapshot(_ request: PlanRequest) async throws(PushError) -> PlanSnapshot {
        directory.sweep()
        guard let content = request.content else {
            let (audience, locales) = PlannedAudienceFinder(table: directory.table).planned(request.audience.expression, nil)
            return PlanSnapshot(
                now: services.context.now, request: request, pipeline: services.pipeline, audience: audience, locales: locales,
                explanation: await explanation(request, reached: audience.count))
        }
        let notification = NotificationRequest(audience: request.audience, content: content)
        let targets = services.targets(of: notification)
        let checked = try notification.checked(
            reaching: targets.isEmpty ? nil : targets.platforms, refusingLarge: false)
        let direct = targets.direct != nil
        let (audience, locales) = direct ? (PlannedAudience(), [:]) : PlannedAudienceFinder(table: directory.table).planned(nil, targets)
        return PlanSnapshot(
            now: services.context.now, request: request, pipeline: services.pipeline, notification: checked, targets: targets,
            audience: audience,
            locales: locales, explanation: await explanation(request, reached: targets.count))
    }

    /// Explains why no device, or few devices, would be reached.
    private func explanation(_ request: PlanRequest, reached: Int) async -> PlanSnapshot.Explanation {
        var explanation = PlanSnapshot.Explanation()
        if reached == 0 {
            explanation.nearMisses = await NearMissFinder(directory: directory).sentences(
                for: NotificationRequest(audience: request.audience, content: request.content ?? .template([:])))
        }
        // Sends to one user reach few of many devices, as intended. Terms are reported only for expressions with several tags, or if
        // nothing matches.
        if reached < Self.few, reached * 10 < directory.table.count || reached == 0, let expression = request.audience.expression,
            expression.tags.count > 1 || reached == 0
        {
            explanation.failedTerms = FailedTerms(of: expression, in: directory.table).terms
        }
        return explanation
    }

    private static let few = 10

    /// The rows of those registrations of a plan that still exist.
    func rows(of audience: PlannedAudience) async throws(PushError) -> [RegistrationRow] {
        directory.sweep()
        return try await directory.rows(stillAt: PlannedAudienceFinder(table: directory.table).rows(of: audience))
    }

    /// Takes a snapshot of a send's targets. Throws what `send` would: `payload.*` and `handle.invalid`.
    func preview(_ request: NotificationRequest) async throws(PushError) -> PreviewSnapshot {
        directory.sweep()
        let targets = services.targets(of: request)
        return PreviewSnapshot(
            pipeline: services.pipeline, request: try services.checked(request, reaching: targets), targets: targets,
            nearMisses: targets.isEmpty ? await NearMissFinder(directory: directory).sentences(for: request) : [])
    }
}
