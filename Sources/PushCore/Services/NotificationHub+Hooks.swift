// Whom the hub asks and tells on the way.
extension NotificationHub {
    // MARK: - Sending

    /// What hooks make of a notification that has been checked; the request is to be checked again. Throws what they throw, and
    /// `time.too_far`.
    nonisolated func asked(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        var answer = try await environment.hooks.beforeSend(draft)
        (answer.hub, answer.origin) = (draft.hub, draft.origin)
        // A hook may narrow the audience of a plan. Nobody makes it another plan's, or everybody's.
        answer.request.plan = draft.request.plan
        if let moment = answer.moment { try checkMoment(moment) }
        return answer
    }

    /// A notification was accepted.
    nonisolated func tellSent(_ kept: KeptNotification, _ draft: SendDraft) async {
        guard environment.hooks.isWanted(.afterSend) else { return }
        await environment.hooks.afterSend(SentNotification(id: kept.outcome.id, draft: draft))
    }

    /// A notification has ended.
    ///
    /// - Returns: what hooks are to be told once nobody waits for it any more; nil where none wants to hear of it.
    func ended(_ outcome: NotificationOutcome, of origin: [String], isKept: Bool = true) -> EndedNotification? {
        live[outcome.id] = nil
        endings.end(outcome.id)
        guard isKept, environment.hooks.isWanted(.onOutcome) else { return nil }
        var outcome = outcome
        outcome.devices = []
        return EndedNotification(hub: name, outcome: outcome, origin: origin)
    }

    /// The same, and hooks are told of it beside whatever comes next.
    func endedInBackground(_ outcome: NotificationOutcome, of origin: [String], isKept: Bool = true) {
        guard let end = ended(outcome, of: origin, isKept: isKept) else { return }
        let hooks = environment.hooks
        _ = environment.start { await hooks.onOutcome(end) }
    }

    // MARK: - Registering

    /// What hooks make of a registration or an installation that has been checked; its tags are to be checked again. The caller has its
    /// turn. Throws what they throw.
    func asked(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft {
        let answer = try await environment.hooks.onRegister(draft)
        try checkIsOpen()
        return answer
    }

    /// A registration or an installation is kept: does what hooks asked for, one after the other.
    func registered(_ draft: RegistrationDraft?) {
        guard let work = draft?.onceKept, !work.isEmpty else { return }
        _ = environment.start { for step in work { await step() } }
    }
}
