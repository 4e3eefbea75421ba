package import PushModel
import Synchronization

/// Holds back sends that would reach more devices than their sender's ceiling, until another principal has approved them.
package final class SendGuard: Sendable {
    package struct Limits: Sendable, Equatable {
        /// Maximum number of devices per send without approval, for every sender; nil for no limit.
        package var ceiling: Int?
        /// How long a request can be approved.
        package var lifetime: Duration

        package init(ceiling: Int? = nil, lifetime: Duration = .seconds(86_400)) { (self.ceiling, self.lifetime) = (ceiling, lifetime) }
    }

    /// The sender, and what accompanies the send.
    package struct Sender: Sendable {
        package let principal: Principal
        /// The sender's own ceiling; nil for none.
        package let ceiling: Int?
        package let hub: Approval.Hub
        package var idempotencyKey: String?
        package var note: String?
        /// The principal on whose behalf the sender acts; nil for none.
        package var behalf: Principal?

        package init(_ principal: Principal, ceiling: Int?, hub: Approval.Hub, idempotencyKey: String? = nil, note: String? = nil) {
            (self.principal, self.ceiling, self.hub) = (principal, ceiling, hub)
            (self.idempotencyKey, self.note) = (idempotencyKey, note)
        }
    }

    /// Maximum number of pending requests.
    package static let maximumPending = 200
    /// Maximum number of pending requests per requester, so that one cannot block the others.
    package static let maximumPendingPerRequester = 50
    /// Maximum length of a note or reason, in characters.
    package static let maximumNoteLength = 200

    /// The requests of this guard.
    package let decisions: ApprovalDecisions
    private let store: any ApprovalStore
    private let audit: AuditLog
    private let clock: any HubClock
    private let random: any RandomSource
    private let limits: Mutex<Limits>

    package init(
        store: any ApprovalStore, audit: AuditLog, clock: any HubClock, random: any RandomSource, limits: Limits = Limits()
    ) {
        (self.store, self.audit, self.clock, self.random) = (store, audit, clock, random)
        decisions = ApprovalDecisions(store, audit, clock)
        self.limits = Mutex(limits)
    }

    /// Changes the limits for new requests. Pending ones are unaffected.
    package func change(_ limits: Limits) { self.limits.withLock { $0 = limits } }

    // MARK: - Requesting

    /// The check that a hub makes before it accepts a send; nil if the sender may reach any number of devices.
    package func admission(_ sender: Sender) -> SendAdmission? {
        guard let ceiling = ceiling(sender) else { return nil }
        return SendAdmission { draft, asked, counter throws(PushError) in
            try await self.admit(draft, asked, counter, sender, ceiling)
        }
    }

    /// The lowest ceiling that applies.
    private func ceiling(_ sender: Sender) -> Approval.Ceiling? {
        let shared = limits.withLock { $0.ceiling }
        if let own = sender.ceiling, own <= shared ?? .max {
            return Approval.Ceiling(devices: own, owner: sender.principal)
        }
        return shared.map { Approval.Ceiling(devices: $0, owner: nil) }
    }

    private func admit(
        _ draft: SendDraft, _ original: SendDraft, _ counter: any ReachCounting, _ sender: Sender, _ ceiling: Approval.Ceiling
    ) async throws(PushError) -> SendAdmission.Answer {
        let request = draft.request
        // The fingerprint of the original request, before hooks changed it: a repeated send finds the same approval.
        let fingerprint = original.request.fingerprint(scheduledFor: original.dueTime)
        if let key = sender.idempotencyKey,
            let known = try await store.approval(under: key, by: sender.principal, atHub: sender.hub.number)
        {
            if let answer = try await answer(known, fingerprint) { return answer }
        }
        guard let reach = await counter.reach(of: request, beyond: ceiling.devices) else { return .admitted(ceiling.approvedReach) }
        let (now, lifetime) = (clock.now, limits.withLock { $0.lifetime })
        let asked = Approval(
            origin: Approval.Origin(
                hub: sender.hub, requester: sender.principal, behalf: sender.behalf,
                note: sender.note.map { String($0.prefix(Self.maximumNoteLength)) }, createdAt: now),
            expiresAt: min(now + lifetime, .distantFuture),
            keys: Approval.Keys(
                fingerprint: fingerprint, idempotencyKey: sender.idempotencyKey, sendKey: "approval-\(random.uuid())"),
            scope: Approval.Scope(
                dueAt: draft.dueTime, audience: request.audienceWords, content: request.content.shortWords, ceiling: ceiling, reach: reach),
            request: request)
        let stored = try await save(asked)
        if stored.keys.sendKey == asked.keys.sendKey {
            await audit.noteOften(
                sender.principal, .approvalRequest, stored.id,
                ["words": "\(stored.words) · \(stored.scope.why)", "hub": sender.hub.name])
        }
        throw Self.required(stored)
    }

    /// The answer to a repeated idempotency key; nil if the send is to be treated as new.
    private func answer(_ known: Approval, _ fingerprint: [UInt8]) async throws(PushError) -> SendAdmission.Answer? {
        let known = try await decisions.current(known)
        guard known.keys.fingerprint == fingerprint else {
            throw PushError(
                "hub.idempotency_key", "the idempotency key was used for another request, \(known.id); not sent",
                hint: "use a new key for each notification; repeat a key only with the same request", status: 422,
                details: ["approval": .string(known.id)])
        }
        switch known.state {
        case .pending, .approved: throw Self.required(known)
        case .sent: return known.notificationID.map { .sent($0) }
        case .denied:
            throw PushError(
                "approval.denied", "\(known.id) was denied by \(known.decision?.principal.description ?? "")\(known.reasonInWords)",
                hint: "send something else or to fewer devices, with another idempotency key", status: 403,
                details: ["approval": .string(known.id)])
        case .expired, .failed: return nil
        }
    }

    /// Adds a request, or returns the pending one for the same send. Throws `approval.too_many` (429).
    private func save(_ asked: Approval) async throws(PushError) -> Approval {
        let words: String
        switch try await store.add(asked, most: Self.maximumPending, each: Self.maximumPendingPerRequester) {
        case .pending(let stored): return stored
        case .full: words = "\(Self.maximumPending) requests are pending already, the maximum; not sent"
        case .fullForRequester:
            words = "\(Self.maximumPendingPerRequester) requests of \(asked.requester) are pending already, the maximum; not sent"
        }
        throw PushError(
            "approval.too_many", words, hint: "approve or deny some first: pushhost approvals list", status: 429, isRetryable: true)
    }

    private static func required(_ approval: Approval) -> PushError {
        let (reach, ceiling) = (approval.reach, approval.ceiling)
        let audience = reach.isUnknown ? "a broadcast channel, with an unknown number of devices," : reach.words
        let limit = "limit \(ceiling.devices.grouped)\(ceiling.owner.map { " for \($0)" } ?? "")"
        var details: [String: JSON] = ["approval": .string(approval.id), "ceiling": .integer(Int64(ceiling.devices))]
        if !reach.isUnknown { details["devices"] = .integer(Int64(reach.devices)) }
        return PushError(
            "approval.required", "sending to \(audience) needs approval (\(limit)); not sent, request \(approval.id) is pending",
            hint: "ask someone with a key that has Manage to run: pushhost approvals approve \(approval.id)", status: 403, details: details)
    }
}

extension Approval {
    var reasonInWords: String { decision?.reason.map { ": \($0)" } ?? "" }
    /// The reason as the last part of a summary: ` · reason "checked"`.
    var labelledReason: String { decision?.reason.map { " · reason \"\($0)\"" } ?? "" }
}

extension NotificationRequest {
    /// For example `tags news`, or `the devices of plan p-0001, tags news`.
    var audienceWords: String { ((plan.map { "the devices of plan \($0.id), " } ?? "") + audience.words).cut }
}

extension NotificationContent {
    var shortWords: String { words.cut }
}

extension String {
    fileprivate var cut: String { count <= 300 ? self : "\(prefix(299))…" }
}
