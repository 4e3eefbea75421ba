import Synchronization

/// Keeps sends back that would reach more devices than their sender may reach by himself, until somebody else has allowed them.
package final class SendGuard: Sendable {
    package struct Limits: Sendable, Equatable {
        /// Most devices of any send without leave; nil for no limit.
        package var ceiling: Int?
        /// How long a send waits for somebody's leave.
        package var lifetime: Duration

        package init(ceiling: Int? = nil, lifetime: Duration = .seconds(86_400)) { (self.ceiling, self.lifetime) = (ceiling, lifetime) }
    }

    /// Who sends, and what he says of it.
    package struct Sender: Sendable {
        package let principal: Principal
        /// His own; nil for none.
        package let ceiling: Int?
        package let hub: Approval.Hub
        package var idempotencyKey: String?
        package var note: String?
        /// Who has him do it; nil for nobody.
        package var behalf: Principal?

        package init(_ principal: Principal, ceiling: Int?, hub: Approval.Hub, idempotencyKey: String? = nil, note: String? = nil) {
            (self.principal, self.ceiling, self.hub) = (principal, ceiling, hub)
            (self.idempotencyKey, self.note) = (idempotencyKey, note)
        }
    }

    /// Most that wait at a time.
    package static let mostPending = 200
    /// Most of them that one sender has asked for, so that none keeps the others from asking.
    package static let mostPendingEach = 50
    /// Most characters of a note or a reason.
    package static let longestNote = 200

    let store: any ApprovalStore
    let audit: AuditLog
    let clock: any HubClock
    private let random: any RandomSource
    private let limits: Mutex<Limits>
    /// Numbers of those that somebody is approving in this process, with how many are.
    let deciding = Mutex<[Int64: Int]>([:])

    package init(
        store: any ApprovalStore, audit: AuditLog, clock: any HubClock, random: any RandomSource, limits: Limits = Limits()
    ) {
        (self.store, self.audit, self.clock, self.random) = (store, audit, clock, random)
        self.limits = Mutex(limits)
    }

    /// For what is asked from now on; what waits goes on waiting.
    package func change(_ limits: Limits) { self.limits.withLock { $0 = limits } }

    // MARK: - Asking

    /// What a hub asks before it takes a send; nil where its sender may reach any number.
    package func admission(_ sender: Sender) -> SendAdmission? {
        guard let ceiling = ceiling(sender) else { return nil }
        return SendAdmission { draft, asked, hub throws(PushError) in
            try await self.admit(draft, asked, hub, sender, ceiling)
        }
    }

    /// The smallest that applies.
    private func ceiling(_ sender: Sender) -> Approval.Ceiling? {
        let shared = limits.withLock { $0.ceiling }
        if let own = sender.ceiling, own <= shared ?? .max {
            return Approval.Ceiling(devices: own, owner: sender.principal)
        }
        return shared.map { Approval.Ceiling(devices: $0, owner: nil) }
    }

    private func admit(
        _ draft: SendDraft, _ given: SendDraft, _ hub: NotificationHub, _ sender: Sender, _ ceiling: Approval.Ceiling
    ) async throws(PushError) -> SendAdmission.Answer {
        let request = draft.request
        // Of what was asked, whatever hooks make of it: who repeats that has the same approval.
        let fingerprint = given.request.fingerprint(scheduledFor: given.moment)
        if let key = sender.idempotencyKey,
            let known = try await store.approval(under: key, by: sender.principal, atHub: sender.hub.number)
        {
            if let answer = try await answer(known, fingerprint) { return answer }
        }
        guard let reach = await hub.reach(of: request, beyond: ceiling.devices) else { return .admitted(ceiling.approvedReach) }
        let (now, lifetime) = (clock.now, limits.withLock { $0.lifetime })
        var asked = Approval(
            hub: sender.hub, requester: sender.principal, note: sender.note.map { String($0.prefix(Self.longestNote)) },
            moment: draft.moment,
            createdAt: now, expiresAt: min(now + lifetime, .distantFuture), fingerprint: fingerprint,
            idempotencyKey: sender.idempotencyKey, sendKey: "approval-\(random.uuid())", audience: request.audienceWords,
            content: request.content.shortWords, ceiling: ceiling, reach: reach, request: request)
        asked.behalf = sender.behalf
        let kept = try await keep(asked)
        if kept.sendKey == asked.sendKey {
            await audit.noteOften(
                sender.principal, .approvalRequest, kept.id,
                ["words": "\(kept.id): \(kept.words); \(kept.why)", "hub": sender.hub.name])
        }
        throw Self.required(kept)
    }

    /// What comes of asking again under the same key; nil where it is as if nobody had asked.
    private func answer(_ known: Approval, _ fingerprint: [UInt8]) async throws(PushError) -> SendAdmission.Answer? {
        let known = try await current(known)
        guard known.fingerprint == fingerprint else {
            throw PushError(
                "hub.idempotency_key", "the idempotency key belongs to another request, that of \(known.id)",
                hint: "use a key once for each notification, and again only to repeat it unchanged", status: 422,
                details: ["approval": .string(known.id)])
        }
        switch known.state {
        case .pending, .approved: throw Self.required(known)
        case .sent: return known.notificationID.map { .sent($0) }
        case .denied:
            throw PushError(
                "approval.denied", "\(known.id) was denied by \(known.decision?.principal.description ?? "")\(known.reasonInWords)",
                hint: "send something else, or to fewer, under another idempotency key", status: 403,
                details: ["approval": .string(known.id)])
        case .expired, .failed: return nil
        }
    }

    /// The one that waits for the same already, or a new one. Throws `approval.too_many` (429).
    private func keep(_ asked: Approval) async throws(PushError) -> Approval {
        let words: String
        switch try await store.add(asked, most: Self.mostPending, each: Self.mostPendingEach) {
        case .kept(let kept): return kept
        case .full: words = "\(Self.mostPending) sends wait for somebody's leave already"
        case .fullForRequester:
            words = "\(Self.mostPendingEach) sends that \(asked.requester) has asked for wait for somebody's leave already"
        }
        throw PushError(
            "approval.too_many", words, hint: "decide about them first: pushhost approvals list", status: 429, isRetryable: true)
    }

    private static func required(_ approval: Approval) -> PushError {
        let (reach, ceiling) = (approval.reach, approval.ceiling)
        let why =
            reach.isUnknown
            ? "nobody knows how many devices a broadcast channel reaches, and they may be more than \(ceiling.sentence)"
            : "\(reach.words) are more than \(ceiling.sentence)"
        var details: [String: JSON] = ["approval": .string(approval.id), "ceiling": .integer(Int64(ceiling.devices))]
        if !reach.isUnknown { details["devices"] = .integer(Int64(reach.devices)) }
        return PushError(
            "approval.required", "\(why): nothing was sent, and it waits as \(approval.id) for somebody else's leave",
            hint: "somebody else lets it go: pushhost approvals approve \(approval.id)", status: 403, details: details)
    }
}

extension Approval.Ceiling {
    /// `the 1,000 that key:ops may reach without leave`
    package var sentence: String { approvedReach.text }

    fileprivate var approvedReach: ApprovedReach { ApprovedReach(devices: devices, basis: .ceiling(of: owner)) }
}

extension Approval {
    var reasonInWords: String { decision?.reason.map { ": \($0)" } ?? "" }
}

extension NotificationRequest {
    /// `tags news`, `the devices of plan p-0001, tags news`
    var audienceWords: String { ((plan.map { "the devices of plan \($0.id), " } ?? "") + audience.words).cut }
}

extension NotificationContent {
    var shortWords: String { words.cut }
}

extension String {
    fileprivate var cut: String { count <= 300 ? self : "\(prefix(299))…" }
}
