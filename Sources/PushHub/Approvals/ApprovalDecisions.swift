package import PushModel
import Synchronization

/// The requests for approval and the decisions about them. An approved send is passed to its hub.
package final class ApprovalDecisions: Sendable {
    private let store: any ApprovalStore
    private let audit: AuditLog
    private let clock: any HubClock
    /// Requests that are being approved in this process, with the number of concurrent calls.
    private let deciding = Mutex<[Int64: Int]>([:])

    init(_ store: any ApprovalStore, _ audit: AuditLog, _ clock: any HubClock) {
        (self.store, self.audit, self.clock) = (store, audit, clock)
    }

    /// Finds a hub by number; nil if it was deleted.
    package typealias Hubs = @Sendable (Int64) -> NotificationHub?

    // MARK: - Reading

    /// Lists requests, newest first.
    /// - Parameter requester: lists only the requests of this principal; nil for all.
    package func approvals(
        of requester: Principal? = nil, before number: Int64?, limit: Int, state: Approval.State?
    ) async throws(PushError) -> [Approval] {
        try await expire()
        guard let requester else { return try await store.approvals(before: number, limit: limit, state: state) }
        var (found, last) = ([Approval](), number)
        while found.count < limit {
            let page = try await store.approvals(before: last, limit: SendGuard.maximumPending, state: state)
            found += page.filter { $0.origin.isRequested(by: requester) }
            guard page.count == SendGuard.maximumPending else { break }
            last = page.last?.number
        }
        return Array(found.prefix(limit))
    }

    /// A request. Throws `approval.not_found` (404) with the most similar id as a hint.
    /// - Parameter requester: finds only requests of this principal; nil for all.
    package func approval(_ id: String, of requester: Principal? = nil) async throws(PushError) -> Approval {
        if let number = Approval.number(id), let found = try await store.approval(number),
            requester.map({ found.origin.isRequested(by: $0) }) ?? true
        {
            return try await current(found)
        }
        let known = try await approvals(of: requester, before: nil, limit: 100, state: nil).map(\.id)
        throw PushError(
            "approval.not_found", "unknown approval request \"\(id.prefix(40))\"",
            hint: nearest(id, in: known).map { "did you mean \"\($0)\"?" } ?? "see all requests with pushhost approvals list", status: 404)
    }

    /// Number of requests that await approval.
    package func countPending() async throws(PushError) -> Int {
        try await expire()
        return try await store.approvals(before: nil, limit: SendGuard.maximumPending, state: .pending).count
    }

    // MARK: - Deciding

    /// Approves a request and sends it, once, however often it is approved. Returns when the hub has accepted the send.
    ///
    /// Throws `approval.own` (403) for the requester, `approval.decided` (409) if the request is not pending, `approval.grown` (409) if
    /// its audience has grown or a hook widens it, `hub.not_found` (404), and errors of the hub.
    package func approve(
        _ id: String, by principal: Principal, reason: String? = nil, _ hubs: Hubs
    ) async throws(PushError) -> Approval {
        let waiting = try await waiting(id)
        guard waiting.requester != principal, waiting.origin.behalf != principal else { throw await own(waiting) }
        guard let request = waiting.request, let hub = hubs(waiting.hub.number) else {
            throw PushError(
                "hub.not_found", "hub \"\(waiting.hub.name)\" of \(waiting.id) was deleted", hint: "deny it, or let it expire", status: 404)
        }
        var targets: ResolvedTargets?
        let reach = await hub.reach(of: request, &targets)
        guard waiting.scope.allows(reach) else { throw try await grown(waiting, reach, principal) }
        // Meanwhile, `resume` leaves this request to this call.
        deciding.withLock { $0[waiting.number, default: 0] += 1 }
        defer { deciding.withLock { $0[waiting.number] = $0[waiting.number].flatMap { $0 > 1 ? $0 - 1 : nil } } }
        var approved = waiting
        approved.state = .approved
        approved.decision = Approval.Decision(principal: principal, time: clock.now, reason: reason.map(Self.cut))
        guard try await store.replace(approved, from: .pending) else { throw try await decided(id) }
        do throws(PushError) {
            // An approval that is not in the audit log must not be sent.
            try await note(approved)
        } catch {
            _ = try? await store.replace(waiting, from: .approved)
            throw error
        }
        return try await send(approved, hub, targets)
    }

    /// Logs an approval. Throws if the entry cannot be stored.
    private func note(_ approved: Approval) async throws(PushError) {
        guard let decision = approved.decision else { return }
        try await audit.require(
            decision.principal, .approvalApprove, approved.id,
            [
                "words": "approved by \(decision.principal) · \(approved.words)\(approved.labelledReason)",
                "hub": approved.hub.name, Self.decided: decision.time.description,
            ])
    }

    /// Whether the approval is logged. The process that approved it may have ended before.
    private func isNoted(_ approved: Approval) async throws(PushError) -> Bool {
        guard let decision = approved.decision else { return false }
        let filter = AuditFilter(
            actor: decision.principal.description, action: AuditAction.approvalApprove.rawValue, since: decision.time)
        var sequence: Int64?
        while true {
            let entries = try await audit.trail.entries(before: sequence, limit: 200, filter)
            // A request that was approved, returned to pending and approved again has several entries.
            if entries.contains(where: { $0.record.subject == approved.id && $0.record.details[Self.decided] == decision.time.description })
            {
                return true
            }
            guard let last = entries.last else { return false }
            sequence = last.sequence
        }
    }

    /// The detail of a log entry with the time of the decision.
    private static let decided = "decided"

    /// Denies a request. Requesters may withdraw their own requests. Throws `approval.decided` (409).
    package func deny(
        _ id: String, of requester: Principal? = nil, by principal: Principal, reason: String? = nil
    ) async throws(PushError) -> Approval {
        var denied = try await waiting(id, of: requester)
        denied.state = .denied
        denied.request = nil
        denied.decision = Approval.Decision(principal: principal, time: clock.now, reason: reason.map(Self.cut))
        guard try await store.replace(denied, from: .pending) else { throw try await decided(id) }
        await audit.note(
            principal, .approvalDeny, denied.id,
            ["words": "denied by \(principal) · \(denied.words)\(denied.labelledReason)", "hub": denied.hub.name])
        return denied
    }

    private func waiting(_ id: String, of requester: Principal? = nil) async throws(PushError) -> Approval {
        let found = try await approval(id, of: requester)
        guard found.state == .pending else { throw try await decided(id) }
        return found
    }

    private func own(_ waiting: Approval) async -> PushError {
        let who = waiting.requester
        await audit.noteOften(
            who, .approvalRefuse, waiting.id, ["words": "\(who) requested \(waiting.id) and cannot approve it"], outcome: .refused)
        return PushError(
            "approval.own", "\(who) requested \(waiting.id) and cannot approve it; not sent",
            hint: "another person has to approve it, with another key", status: 403)
    }

    private func decided(_ id: String) async throws(PushError) -> PushError {
        let found = try await approval(id)
        let who = found.decision.map { " by \($0.principal) at \($0.time)" } ?? ""
        let what = found.notificationID.map { ", as notification \($0)" } ?? ""
        return PushError(
            "approval.decided", "\(found.id) is not pending: \(found.state.word)\(who)\(what)\(found.reasonInWords)",
            hint: "for details: pushhost approvals show \(found.id)", status: 409)
    }

    /// Stores the new reach. The request stays pending, for another decision.
    private func grown(
        _ waiting: Approval, _ reach: AudienceReach, _ principal: Principal
    ) async throws(PushError) -> PushError {
        var grown = waiting
        grown.scope.reach = reach
        guard try await store.replace(grown, from: .pending) else { return try await decided(waiting.id) }
        let (before, now) = (waiting.reach.devices.grouped, reach.words)
        await audit.noteOften(
            principal, .approvalRefuse, grown.id,
            ["words": "\(grown.id) was not approved: its audience has grown from \(before) to \(now)", "hub": grown.hub.name],
            outcome: .refused)
        return PushError.grown(grown, to: reach, "the audience of \(grown.id) has grown from \(before) to \(now)")
    }

    // MARK: - Sending

    /// Passes an approved send to its hub, which accepts it once. If the hub cannot accept it now, the request stays approved and `resume`
    /// tries again.
    ///
    /// - Parameter targets: the targets that were found when it was approved; nil for none.
    private func send(_ approved: Approval, _ hub: NotificationHub, _ targets: ResolvedTargets? = nil) async throws(PushError) -> Approval {
        guard let request = approved.request else { return approved }
        var done = approved
        done.request = nil
        let recheck = ApprovalRecheck(approved)
        do throws(PushError) {
            let accepted = try await hub.accept(
                SendIntake.Order(
                    request: request, dueTime: approved.scope.dueAt, idempotencyKey: approved.keys.sendKey, admission: recheck.admission,
                    targets: targets))
            done.state = .sent
            done.notificationID = accepted.outcome.id
        } catch {
            if let excess = recheck.excess { throw try await putBack(approved, excess, error) }
            guard !error.isRetryable else { throw error }
            (done.state, done.failure) = (.failed, error.message)
            if try await store.replace(done, from: .approved) {
                await audit.note(
                    .server, .approvalSend, done.id, ["words": "\(done.id) could not be sent: \(error.message)", "hub": done.hub.name],
                    outcome: .failed)
            }
            var failure = error
            failure.message = "\(done.id) was approved and cannot be sent: \(error.message)"
            failure.hint = "the request has ended; \(done.requester) can send again"
            throw failure
        }
        var words = "\(done.id) was sent as \(done.notificationID ?? "")"
        if let left = recheck.measure {
            done.take(left)
            if left.isChanged { words += "; changed by a plugin: \(done.reach.words), \(done.scope.audience), \(done.scope.content)" }
        }
        guard try await store.replace(done, from: .approved) else { return try await approval(done.id) }
        await audit.note(.server, .approvalSend, done.id, ["words": words, "hub": done.hub.name])
        return done
    }

    /// Returns a request to pending, with the send as a hook or the audience has changed it, because it exceeds what was approved.
    private func putBack(
        _ approved: Approval, _ excess: ApprovalRecheck.Measure, _ error: PushError
    ) async throws(PushError) -> PushError {
        var waiting = approved
        (waiting.state, waiting.decision, waiting.request) = (.pending, nil, excess.request)
        waiting.take(excess)
        guard try await store.replace(waiting, from: .approved) else { return try await decided(waiting.id) }
        await audit.note(
            .server, .approvalRefuse, waiting.id,
            ["words": "\(waiting.id) was approved and not sent: \(approved.growth(to: excess))", "hub": waiting.hub.name],
            outcome: .refused)
        return error
    }

    /// Sends approved requests that were not sent because a process ended or the hub could not accept them. Called at the start and
    /// periodically. Logs missing approvals first. Returns a message for each request that still could not be sent.
    package func resume(_ hubs: Hubs) async throws(PushError) -> [String] {
        var left: [String] = []
        for approval in try await store.approvals(before: nil, limit: SendGuard.maximumPending, state: .approved) {
            guard let hub = hubs(approval.hub.number), deciding.withLock({ $0[approval.number] }) == nil else { continue }
            do throws(PushError) {
                if try await !isNoted(approval) { try await note(approval) }
                _ = try await send(approval, hub)
            } catch {
                left.append("\(approval.id) was approved but could not be sent: \(error.message)")
            }
        }
        return left
    }

    // MARK: - Expiring

    /// Expires requests without a decision. Their records stay.
    package func expire() async throws(PushError) {
        for approval in try await store.approvals(before: nil, limit: SendGuard.maximumPending, state: .pending) {
            _ = try await current(approval)
        }
    }

    /// The current state of a request; expires it if its time is over.
    func current(_ approval: Approval) async throws(PushError) -> Approval {
        guard approval.state == .pending, approval.expiresAt <= clock.now else { return approval }
        var expired = approval
        expired.state = .expired
        expired.request = nil
        guard try await store.replace(expired, from: .pending) else { return try await store.approval(approval.number) ?? approval }
        await audit.note(
            .server, .approvalExpire, expired.id,
            ["words": "expired without a decision · \(expired.words)", "hub": expired.hub.name])
        return expired
    }

    private static func cut(_ reason: String) -> String { String(reason.prefix(SendGuard.maximumNoteLength)) }
}

extension Approval {
    /// Replaces the described reach, audience and content by the measured ones.
    fileprivate mutating func take(_ measure: ApprovalRecheck.Measure) {
        scope.reach = measure.reach
        (scope.audience, scope.content) = (measure.request.audienceWords, measure.request.content.shortWords)
    }
}

extension Approval.State {
    fileprivate var word: String {
        switch self {
        case .pending: "it is pending"
        case .approved, .sent: "it was approved"
        case .denied: "it was denied"
        case .expired: "it has expired"
        case .failed: "it was approved, and the hub rejected it"
        }
    }
}
