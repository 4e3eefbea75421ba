package import PushModel
import Synchronization

/// A hub for planning a flow. Reads go to the base hub and sends become plans. Registrations are simulated, unless the base hub is
/// used by this flow alone.
package final class PlanningHub: HubGateway {
    /// A send that was planned instead of made.
    package struct Entry: Sendable {
        package var id: String
        package var report: PlanReport
        /// The scheduled time; nil: immediately.
        package var dueTime: Timestamp?
    }

    private struct State {
        var entries: [Entry] = []
        /// Plans that the flow requested itself.
        var plans: [String: PlanReport] = [:]
        var outcomes: [String: NotificationOutcome] = [:]
        var registrations: [RegistrationID: Registration] = [:]
        var installations: [String: Installation] = [:]
        var simulatedCount = 0
    }

    private let base: any HubGateway
    private let clock: any HubClock
    private let random: any RandomSource
    private let simulatesRegistrations: Bool
    private let deviceLimit: Int
    private let state = Mutex(State())

    /// Prefix of the ids of planned sends.
    package static let prefix = "planned-"

    /// - Parameters:
    ///   - simulatesRegistrations: whether registrations are simulated, which leaves the base hub unchanged.
    ///   - deviceLimit: maximum number of devices that each plan lists.
    package init(_ base: any HubGateway, clock: any HubClock, random: any RandomSource, simulatesRegistrations: Bool, deviceLimit: Int = 0)
    {
        (self.base, self.clock, self.random, self.simulatesRegistrations, self.deviceLimit) = (
            base, clock, random, simulatesRegistrations, deviceLimit
        )
    }

    /// Planned sends, in the order of the flow.
    package var entries: [Entry] { state.withLock { $0.entries } }

    /// Number of simulated registrations and installations. Plans do not include them.
    package var simulatedCount: Int { state.withLock { $0.simulatedCount } }

    // MARK: - Sends

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try note(try await report(request), at: nil)
    }

    package func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try SendDraft.check(dueTime, now: clock.now)
        return try note(try await report(request), at: dueTime)
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        var report = try await plan(planned.binding.id)
        if let content = planned.content {
            guard report.content == nil || report.content == content else { throw PushError.planContent(planned.binding.id) }
            report = try await base.plan(
                PlanRequest(audience: report.audience, content: content, isStored: false, deviceLimit: deviceLimit))
        } else if report.content == nil {
            throw PushError.planWithoutContent(planned.binding.id)
        }
        return try note(report, at: nil)
    }

    private func report(_ request: NotificationRequest) async throws(PushError) -> PlanReport {
        guard request.audience.handles.isEmpty else { return try direct(request.checked(refusingLarge: true)) }
        return try await base.plan(
            PlanRequest(audience: request.audience, content: request.content, isStored: false, deviceLimit: deviceLimit))
    }

    /// Plans a direct send. This does not need the base hub.
    private func direct(_ request: NotificationRequest) -> PlanReport {
        var report = PlanReport(plannedAt: clock.now, audience: request.audience, content: request.content)
        let targets = Targets(direct: request.audience.handles)
        (report.matched, report.total, report.duplicates) = (targets.matched, targets.count, targets.duplicates.count)
        for group in RenderedGroup.groups(of: targets, for: request) {
            report.platforms[group.platform, default: 0] += group.members.count
            report.groups.append(PlanReport.Group(group))
        }
        return report
    }

    private func note(_ report: PlanReport, at dueTime: Timestamp?) throws(PushError) -> NotificationOutcome {
        state.withLock { state in
            let id = "\(Self.prefix)\(state.entries.count + 1)"
            state.entries.append(Entry(id: id, report: report, dueTime: dueTime))
            let isFuture = dueTime.map { $0 > clock.now } ?? false
            var outcome = NotificationOutcome(
                id: id, state: report.total == 0 && !isFuture ? .noTargetFound : isFuture ? .scheduled : .enqueued,
                tags: report.audience.expression?.description, times: NotificationTimes(enqueuedAt: clock.now, scheduledFor: dueTime),
                nearMisses: report.total == 0 ? report.nearMisses : [])
            outcome.note([.planned(devices: report.total)])
            state.outcomes[id] = outcome
            return outcome
        }
    }

    package func cancel(notification id: String) async throws(PushError) {
        let isOurs = state.withLock { state in
            guard state.outcomes[id] != nil else { return false }
            state.outcomes[id]?.state = .canceled
            state.entries.removeAll { $0.id == id }
            return true
        }
        guard !isOurs else { return }
        // Not a planned notification: planning changes nothing in the base hub, so only check that it exists.
        _ = try await base.outcome(of: id)
    }

    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        if let outcome = state.withLock({ $0.outcomes[id] }) { return outcome }
        return try await base.outcome(of: id)
    }

    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        if let outcome = state.withLock({ $0.outcomes[id] }) { return outcome }
        return try await base.finish(id)
    }

    // MARK: - Plans

    package func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport {
        var unstored = request
        (unstored.isStored, unstored.deviceLimit) = (false, deviceLimit)
        var report = try await base.plan(unstored)
        guard request.isStored else { return report }
        return state.withLock { state in
            report.id = "\(Self.prefix)plan-\(state.plans.count + 1)"
            state.plans[report.id ?? ""] = report
            return report
        }
    }

    /// Answers that a planned notification was not sent; other questions go to the base hub.
    package func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        let planned = state.withLock { state in
            state.outcomes[question.notification].map { outcome in
                (outcome, state.entries.first { $0.id == outcome.id }?.report.total ?? 0)
            }
        }
        guard let (outcome, total) = planned else { return try await base.trace(question) }
        var answer = TraceAnswer(
            notification: outcome.id, state: outcome.state, tags: outcome.tags, time: outcome.enqueuedAt, nearMisses: outcome.nearMisses)
        func sentence(_ device: String) -> String { TraceCause.onlyPlanned.pattern.filled(["device": device]) }
        if let device = question.device {
            // Abbreviate what may be a handle.
            let name = device.utf8.count > 40 ? "\(device.prefix(6))…\(device.suffix(4))" : device
            let line = DeliveryTrace.Line(
                time: outcome.enqueuedAt, step: .notification, text: "planned, not sent", isGood: false, isCause: true)
            answer.traces = [
                DeliveryTrace(device: name, platform: nil, lines: [line], cause: .onlyPlanned, sentence: sentence(name))
            ]
        } else if total > 0 {
            let words = "its \(total) device\(total == 1 ? "" : "s")"
            answer.counts = [TraceAnswer.Count(cause: .onlyPlanned, devices: total, example: "", sentence: sentence(words))]
        }
        return answer
    }

    package func plan(_ id: String) async throws(PushError) -> PlanReport {
        if let report = state.withLock({ $0.plans[id] }) { return report }
        return try await base.plan(id)
    }

    // MARK: - Registrations

    package func createRegistrationID() async throws(PushError) -> RegistrationID {
        simulatesRegistrations ? RegistrationID(random: random) : try await base.createRegistrationID()
    }

    package func createRegistration(_ description: RegistrationDescription) async throws(PushError) -> Registration {
        guard simulatesRegistrations else { return try await base.createRegistration(description) }
        return try await putRegistration(RegistrationID(random: random), description, ifMatch: nil)
    }

    package func putRegistration(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?
    ) async throws(PushError) -> Registration {
        guard simulatesRegistrations else { return try await base.putRegistration(id, description, ifMatch: ifMatch) }
        let (handle, tags) = (try description.handle.checked(), try description.tags.checked())
        let now = clock.now
        return state.withLock { state in
            let registration = Registration(
                id: id, etag: (state.registrations[id]?.etag ?? 0) + 1, expiration: .distantFuture, updatedAt: now,
                description: RegistrationDescription(
                    handle: handle, tags: tags, template: description.template, pushVariables: description.pushVariables,
                    secondaryTile: description.secondaryTile))
            if state.registrations.updateValue(registration, forKey: id) == nil { state.simulatedCount += 1 }
            return registration
        }
    }

    package func registration(_ id: RegistrationID) async throws(PushError) -> Registration {
        if let registration = state.withLock({ $0.registrations[id] }) { return registration }
        return try await base.registration(id)
    }

    package func deleteRegistration(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        guard simulatesRegistrations else { return try await base.deleteRegistration(id, ifMatch: ifMatch) }
        state.withLock { $0.registrations[id] = nil }
    }

    package func registrations(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        try await base.registrations(filter, page: page)
    }

    package func putInstallation(_ installation: Installation) async throws(PushError) {
        guard simulatesRegistrations else { return try await base.putInstallation(installation) }
        let checked = try installation.checked()
        state.withLock { state in
            if state.installations.updateValue(checked, forKey: checked.id) == nil { state.simulatedCount += 1 }
        }
    }

    package func installation(_ id: String) async throws(PushError) -> Installation {
        if let installation = state.withLock({ $0.installations[id] }) { return installation }
        return try await base.installation(id)
    }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        guard simulatesRegistrations else { return try await base.patchInstallation(id, operations) }
        var installation = try await installation(id)
        try installation.apply(operations)
        try await putInstallation(installation)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) {
        guard simulatesRegistrations else { return try await base.deleteInstallation(id) }
        state.withLock { $0.installations[id] = nil }
    }

    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        try await base.installations(filter, page: page)
    }
}
