import PushModel
import Synchronization

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
        /// The targets that were found when the send was approved; nil for none.
        var targets: ResolvedTargets?
        /// The account of the run that sends, which is charged for the delivery; nil for other senders.
        var account: (any WorkAccount)?
    }

    /// A send that may be accepted.
    struct Checked: Sendable {
        var draft: SendDraft
        var key: IdempotencyKey?
        /// The reach that is rechecked at the due time of a scheduled send.
        var approved: ApprovedReach?
        /// The targets that the checks have found; nil if no check needed them.
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
    private let metrics: HubMetrics
    private let acceptance: HubSettings.Acceptance
    private let hub: String
    /// The sequence number of the newest notification.
    private let sequences: Atomic<Int64>

    init(
        environment: HubEnvironment, store: any HubStore, lifecycle: HubLifecycle, metrics: HubMetrics, settings: HubSettings,
        lastSequence: Int64
    ) {
        (self.environment, self.store, self.lifecycle, self.metrics) = (environment, store, lifecycle, metrics)
        (acceptance, hub) = (settings.acceptance, settings.name)
        sequences = Atomic(lastSequence)
    }

    var lastSequence: Int64 { sequences.load(ordering: .relaxed) }

    // MARK: - Checks

    /// Checks a send, asks for its admission, and calls the `beforeSend` hooks. Stores nothing.
    func check(_ order: Order, for host: any IntakeHost) async throws(PushError) -> Answer {
        var targets = order.targets
        var request = try await checked(order.request, order, host, &targets)
        if let dueTime = order.dueTime { try checkDueTime(dueTime) }
        if let key = order.idempotencyKey { try IdempotencyKey.check(key) }
        try lifecycle.checkIsOpen()
        // The fingerprint covers the original request, before hooks change it.
        let key = order.idempotencyKey.map { IdempotencyKey(key: $0, fingerprint: request.fingerprint(scheduledFor: order.dueTime)) }
        let isHooked = environment.hooks.hasHook(.beforeSend)
        // A repeated send returns the first notification, even if the audience has drifted since.
        if request.plan != nil || order.admission != nil || isHooked, let key, let known = try await store.acceptance(under: key),
            let first = try await repeated(known, host)
        {
            return .repeated(first)
        }
        try await checkDrift(request, host)
        let original = SendDraft(hub: hub, request: request, dueTime: order.dueTime, origin: HookOrigin.plugins)
        var (draft, approved) = (original, ApprovedReach?.none)
        if let known = try await admit(draft, asked: original, order.admission, host, &targets, &approved) { return .sent(known) }
        guard environment.hooks.hasHook(.beforeSend) else {
            return .new(Checked(draft: draft, key: key, approved: approved, targets: targets))
        }
        draft = try await applyHooks(draft)
        request = try await checked(draft.request, order, host, &targets)
        draft.request = request
        try await checkDrift(request, host)
        // A hook may have widened the audience, also indirectly: other content can reach other devices.
        if request != original.request, let known = try await admit(draft, asked: original, order.admission, host, &targets, &approved) {
            return .sent(known)
        }
        // The sender of a test waits for the results, so a hook cannot schedule it.
        if order.isAwaited, request.isTest { draft.dueTime = nil }
        try lifecycle.checkIsOpen()
        return .new(Checked(draft: draft, key: key, approved: approved, targets: targets))
    }

    private func checked(
        _ request: NotificationRequest, _ order: Order, _ host: any IntakeHost, _ targets: inout ResolvedTargets?
    ) async throws(PushError) -> NotificationRequest {
        guard order.isAwaited else { return try request.checked(refusingLarge: acceptance.refusesLargePayloads) }
        return try await host.checked(request, &targets)
    }

    /// Checks the devices of the send's plan, if it has one, against those of now.
    private func checkDrift(_ request: NotificationRequest, _ host: any IntakeHost) async throws(PushError) {
        guard request.plan != nil else { return }
        try await Planner(environment: environment, store: store, host: host).checkDrift(request)
    }

    private func checkDueTime(_ dueTime: Timestamp) throws(PushError) { try SendDraft.check(dueTime, now: environment.clock.now) }

    /// Calls the `beforeSend` hooks with a validated draft. The caller must validate the returned request again. Throws errors of hooks,
    /// and `time.too_far`.
    private func applyHooks(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        var answer = try await environment.hooks.beforeSend(draft)
        (answer.hub, answer.origin) = (draft.hub, draft.origin)
        // A hook may narrow the audience of a plan, but cannot exchange or remove the plan.
        answer.request.plan = draft.request.plan
        if let dueTime = answer.dueTime { try checkDueTime(dueTime) }
        return answer
    }

    /// Checks a send against the sender's ceiling. Throws `approval.required` if it needs approval. Sets `approved` to the reach that is
    /// rechecked at the due time of a scheduled send.
    ///
    /// - Returns: the id of the notification if this send was approved and sent earlier; nil if it is to be sent now.
    private func admit(
        _ draft: SendDraft, asked original: SendDraft, _ admission: SendAdmission?, _ host: any IntakeHost,
        _ targets: inout ResolvedTargets?, _ approved: inout ApprovedReach?
    ) async throws(PushError) -> String? {
        guard let admission else { return nil }
        let counter = RememberingReachCounter(host, targets)
        switch try await admission.answer(draft, original: original, counter) {
        case .sent(let id): return id
        case .admitted(let its):
            (approved, targets) = (its, counter.targets)
            return nil
        }
    }

    // MARK: - Acceptance

    /// Checks a send, stores it and queues it, for a sender who does not wait for its results.
    func accept(_ order: Order, for host: any IntakeHost) async throws(PushError) -> AcceptedNotification {
        var checked: Checked
        switch try await check(order, for: host) {
        case .new(let new): checked = new
        case .sent(let id): return AcceptedNotification(outcome: try await host.notification(id).outcome, isRepeated: true)
        case .repeated(let first): return first
        }
        try ChargedWork.check()
        let stored = notification(checked)
        if let first = try await store(stored, for: host) { return first }
        await host.enqueue(stored, checked.targets.take(), for: order.account)
        notifySentInBackground(stored, checked.draft)
        return AcceptedNotification(outcome: stored.outcome, isRepeated: false)
    }

    /// A notification with the next sequence number.
    func notification(_ checked: Checked) -> StoredNotification {
        let draft = checked.draft
        var request = draft.request
        request.approvedReach = draft.dueTime == nil ? nil : checked.approved
        let (sequence, now) = (sequences.wrappingAdd(1, ordering: .relaxed).newValue, environment.clock.now)
        let id =
            switch acceptance.naming {
            case .short: NotificationID.short(sequence)
            case .unique: NotificationID.unique(sequence, at: now, random: environment.random)
            }
        return StoredNotification(
            sequence: sequence, request: request, idempotency: checked.key,
            outcome: NotificationOutcome(
                id: id, state: draft.dueTime == nil ? .enqueued : .scheduled, tags: draft.request.audience.expression?.description,
                times: NotificationTimes(enqueuedAt: now, scheduledFor: draft.dueTime)),
            origin: draft.origin)
    }

    /// Stores a notification. Returns the first one if its idempotency key was used before; otherwise nil.
    func store(_ stored: StoredNotification, for host: any IntakeHost) async throws(PushError) -> AcceptedNotification? {
        if let first = try await repeated(try await store.accept(stored), host) { return first }
        metrics.accepted()
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
    func notifySent(_ stored: StoredNotification, _ draft: SendDraft) async {
        guard environment.hooks.hasHook(.afterSend) else { return }
        await environment.hooks.afterSend(SentNotification(id: stored.outcome.id, draft: draft))
    }

    /// Calls the `afterSend` hooks in the background.
    func notifySentInBackground(_ stored: StoredNotification, _ draft: SendDraft) {
        guard environment.hooks.hasHook(.afterSend) else { return }
        _ = environment.start { await self.notifySent(stored, draft) }
    }
}

/// Counts the devices that a send would reach, and remembers the targets that were found.
private final class RememberingReachCounter: ReachCounting {
    private let host: any IntakeHost
    private let found: Mutex<ResolvedTargets?>

    /// - Parameter targets: the targets that were found when the send was checked or approved; nil for none.
    init(_ host: any IntakeHost, _ targets: ResolvedTargets?) {
        self.host = host
        found = Mutex(targets)
    }

    var targets: ResolvedTargets? { found.withLock { $0 } }

    func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach? {
        var targets = self.targets
        let reach = await host.reach(of: request, beyond: number, &targets)
        found.withLock { [targets] in $0 = targets }
        return reach
    }

    func reach(of request: NotificationRequest) async -> AudienceReach {
        var targets = self.targets
        let reach = await host.reach(of: request, &targets)
        found.withLock { [targets] in $0 = targets }
        return reach
    }
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
