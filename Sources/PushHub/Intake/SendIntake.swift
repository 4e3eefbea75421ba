import PushModel
import Synchronization

/// The actor that delivers accepted sends, as the intake reaches it from other tasks.
protocol IntakeHost: PlanHost {
    /// Validates a request against the platforms of its current targets. Throws `payload.*` and `handle.invalid`.
    func checked(_ request: NotificationRequest) throws(PushError) -> (request: NotificationRequest, targets: ResolvedTargets)
    /// Counts the devices that a send would reach now, from the targets if they are still current.
    func reach(of request: NotificationRequest, beyond number: Int, _ targets: ResolvedTargets?) async -> AudienceReach?
    func reach(of request: NotificationRequest, _ targets: ResolvedTargets?) async -> AudienceReach
    /// The outcome of a notification as it is now.
    func current(_ outcome: NotificationOutcome) -> NotificationOutcome
}

/// Checks sends before they are accepted: their content, their time, the drift of their plan, their admission, and the hooks.
///
/// Works outside the actor that delivers, so that senders do not wait for each other.
final class SendIntake: Sendable {
    /// A send as its sender requests it.
    struct Order: Sendable {
        var request: NotificationRequest
        /// When to send it; nil or a time in the past means now.
        var dueTime: Timestamp?
        var idempotencyKey: String?
        /// Checks the send first; nil if the sender may reach any number of devices.
        var admission: SendAdmission?
        /// Whether the sender waits for the results. The payloads are then checked against the platforms of the targets.
        var isAwaited = false
    }

    /// A send that may be accepted.
    struct Checked: Sendable {
        var draft: SendDraft
        var key: IdempotencyKey?
        /// The reach that is rechecked at the due time of a scheduled send.
        var approved: ApprovedReach?
        /// The targets that were found meanwhile, for a sender who waits.
        var targets: ResolvedTargets?
    }

    enum Answer: Sendable {
        case new(Checked)
        /// The idempotency key was used before with the same request.
        case repeated(AcceptedNotification)
        /// The send was approved and sent earlier, as the notification with this id.
        case sent(String)
    }

    private let environment: HubEnvironment
    private let store: any HubStore
    private let lifecycle: HubLifecycle
    private let meter: HubMetrics
    private let acceptance: HubSettings.Acceptance
    private let hub: String
    /// The sequence number of the newest notification.
    private let sequences: Atomic<Int64>

    init(
        environment: HubEnvironment, store: any HubStore, lifecycle: HubLifecycle, meter: HubMetrics, settings: HubSettings,
        lastSequence: Int64
    ) {
        (self.environment, self.store, self.lifecycle, self.meter) = (environment, store, lifecycle, meter)
        (acceptance, hub) = (settings.acceptance, settings.name)
        sequences = Atomic(lastSequence)
    }

    var lastSequence: Int64 { sequences.load(ordering: .relaxed) }

    // MARK: - Checks

    /// Checks a send, asks for its admission, and calls the `beforeSend` hooks. Stores nothing.
    func check(_ order: Order, for host: any IntakeHost) async throws(PushError) -> Answer {
        var (request, targets) = try await checked(order.request, order, host)
        if let dueTime = order.dueTime { try checkDueTime(dueTime) }
        if let key = order.idempotencyKey { try IdempotencyKey.check(key) }
        try lifecycle.checkIsOpen()
        // The fingerprint covers the original request, before hooks change it.
        let key = order.idempotencyKey.map { IdempotencyKey(key: $0, fingerprint: request.fingerprint(scheduledFor: order.dueTime)) }
        let isHooked = environment.hooks.isWanted(.beforeSend)
        // A repeated send returns the first notification, even if the audience has drifted since.
        if request.plan != nil || order.admission != nil || isHooked, let key, let known = try await store.acceptance(under: key),
            let first = try await repeated(known, host)
        {
            return .repeated(first)
        }
        let planner = Planner(environment: environment, store: store, host: host)
        try await planner.checkDrift(request)
        let given = SendDraft(hub: hub, request: request, moment: order.dueTime, origin: HookOrigin.plugins)
        var (draft, approved) = (given, ApprovedReach?.none)
        if let known = try await admit(draft, asked: given, order.admission, targets, host, &approved) { return .sent(known) }
        guard environment.hooks.isWanted(.beforeSend) else {
            return .new(Checked(draft: draft, key: key, approved: approved, targets: targets))
        }
        draft = try await asked(draft)
        (request, targets) = try await checked(draft.request, order, host)
        draft.request = request
        try await planner.checkDrift(request)
        // A hook may have widened the audience, also indirectly: other content can reach other devices.
        if request != given.request, let known = try await admit(draft, asked: given, order.admission, targets, host, &approved) {
            return .sent(known)
        }
        // The sender of a test waits for the results, so a hook cannot schedule it.
        if order.isAwaited, request.isTest { draft.moment = nil }
        try lifecycle.checkIsOpen()
        return .new(Checked(draft: draft, key: key, approved: approved, targets: targets))
    }

    private func checked(
        _ request: NotificationRequest, _ order: Order, _ host: any IntakeHost
    ) async throws(PushError) -> (NotificationRequest, ResolvedTargets?) {
        guard order.isAwaited else { return (try request.checked(refusingLarge: acceptance.refusesLargePayloads), nil) }
        let (checked, targets) = try await host.checked(request)
        return (checked, targets)
    }

    private func checkDueTime(_ moment: Timestamp) throws(PushError) { try SendDraft.check(moment, now: environment.clock.now) }

    /// Calls the `beforeSend` hooks with a validated draft. The caller must validate the returned request again. Throws errors of hooks,
    /// and `time.too_far`.
    private func asked(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        var answer = try await environment.hooks.beforeSend(draft)
        (answer.hub, answer.origin) = (draft.hub, draft.origin)
        // A hook may narrow the audience of a plan, but cannot exchange or remove the plan.
        answer.request.plan = draft.request.plan
        if let moment = answer.moment { try checkDueTime(moment) }
        return answer
    }

    /// Checks a send against the sender's ceiling. Throws `approval.required` if it needs approval. Sets `approved` to the reach that is
    /// rechecked at the due time of a scheduled send.
    ///
    /// - Returns: the id of the notification if this send was approved and sent earlier; nil if it is to be sent now.
    private func admit(
        _ draft: SendDraft, asked given: SendDraft, _ admission: SendAdmission?, _ targets: ResolvedTargets?, _ host: any IntakeHost,
        _ approved: inout ApprovedReach?
    ) async throws(PushError) -> String? {
        switch try await admission?.answer(draft, asked: given, HostedReachMeter(host: host, targets: targets)) {
        case .sent(let id): return id
        case .admitted(let its):
            approved = its
            return nil
        case nil: return nil
        }
    }

    // MARK: - Acceptance

    /// A notification with the next sequence number.
    func notification(_ checked: Checked) -> StoredNotification {
        let draft = checked.draft
        var request = draft.request
        request.approvedReach = draft.moment == nil ? nil : checked.approved
        let (sequence, now) = (sequences.wrappingAdd(1, ordering: .relaxed).newValue, environment.clock.now)
        let id =
            switch acceptance.naming {
            case .short: NotificationID.short(sequence)
            case .unique: NotificationID.unique(sequence, at: now, random: environment.random)
            }
        return StoredNotification(
            sequence: sequence, request: request, idempotency: checked.key,
            outcome: NotificationOutcome(
                id: id, state: draft.moment == nil ? .enqueued : .scheduled, tags: draft.request.audience.expression?.description,
                times: NotificationTimes(enqueuedAt: now, scheduledFor: draft.moment)),
            origin: draft.origin)
    }

    /// Stores a notification. Returns the first one if its idempotency key was used before; otherwise nil.
    func accept(_ kept: StoredNotification, for host: any IntakeHost) async throws(PushError) -> AcceptedNotification? {
        if let first = try await repeated(try await store.accept(kept), host) { return first }
        meter.accepted()
        return nil
    }

    /// The answer for an idempotency key that was used before; nil if the notification is new.
    private func repeated(_ acceptance: AcceptanceResult, _ host: any IntakeHost) async throws(PushError) -> AcceptedNotification? {
        switch acceptance {
        case .accepted: return nil
        case .repeated(let first): return AcceptedNotification(outcome: await host.current(first.outcome), isRepeated: true)
        case .keyInUse(let id):
            throw PushError(
                "hub.idempotency_key", "the idempotency key was used for another request, notification \(id); not sent",
                hint: "use a new key for each notification; repeat a key only with the same request", status: 422,
                details: ["notification": .string(id)])
        }
    }

    /// Calls the `afterSend` hooks for an accepted notification.
    func notifySent(_ kept: StoredNotification, _ draft: SendDraft) async {
        guard environment.hooks.isWanted(.afterSend) else { return }
        await environment.hooks.afterSend(SentNotification(id: kept.outcome.id, draft: draft))
    }

    /// Calls the `afterSend` hooks in the background.
    func notifySentInBackground(_ kept: StoredNotification, _ draft: SendDraft) {
        guard environment.hooks.isWanted(.afterSend) else { return }
        _ = environment.start { await self.notifySent(kept, draft) }
    }
}

/// Counts the devices that a send would reach, from the targets that were found when it was checked.
private struct HostedReachMeter: ReachMeter {
    let host: any IntakeHost
    let targets: ResolvedTargets?

    func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach? {
        await host.reach(of: request, beyond: number, targets)
    }

    func reach(of request: NotificationRequest) async -> AudienceReach { await host.reach(of: request, targets) }
}

extension IdempotencyKey {
    fileprivate static func check(_ key: String) throws(PushError) {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw PushError(
                "hub.idempotency_key", "the idempotency key is not 1 to 255 visible ASCII characters",
                hint: "use a UUID, for example", status: 400)
        }
    }
}
