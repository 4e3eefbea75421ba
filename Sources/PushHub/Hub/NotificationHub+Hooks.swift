import PushModel

// Where the hub calls hooks.
extension NotificationHub {
    // MARK: - Sending

    /// Calls the `beforeSend` hooks with a validated draft. The caller must validate the returned request again. Throws errors of hooks,
    /// and `time.too_far`.
    nonisolated func asked(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        var answer = try await environment.hooks.beforeSend(draft)
        (answer.hub, answer.origin) = (draft.hub, draft.origin)
        // A hook may narrow the audience of a plan, but cannot exchange or remove the plan.
        answer.request.plan = draft.request.plan
        if let moment = answer.moment { try checkDueTime(moment) }
        return answer
    }

    /// Calls the `afterSend` hooks for an accepted notification.
    nonisolated func notifySent(_ kept: StoredNotification, _ draft: SendDraft) async {
        guard environment.hooks.isWanted(.afterSend) else { return }
        await environment.hooks.afterSend(SentNotification(id: kept.outcome.id, draft: draft))
    }

    /// Removes an ended notification from memory and resumes its waiters.
    ///
    /// - Returns: the event for the `onOutcome` hooks; nil if no hook wants it, or the end is not stored.
    func ended(_ outcome: NotificationOutcome, of origin: [String], isKept: Bool = true) -> EndedNotification? {
        live[outcome.id] = nil
        completionWaiters.end(outcome.id)
        guard isKept, environment.hooks.isWanted(.onOutcome) else { return nil }
        var outcome = outcome
        outcome.devices = []
        return EndedNotification(hub: name, outcome: outcome, origin: origin)
    }

    /// Ends a notification, and calls the `onOutcome` hooks in the background.
    func endedInBackground(_ outcome: NotificationOutcome, of origin: [String], isKept: Bool = true) {
        guard let end = ended(outcome, of: origin, isKept: isKept) else { return }
        let hooks = environment.hooks
        _ = environment.start { await hooks.onOutcome(end) }
    }

    // MARK: - Registering

    /// Calls the `onRegister` hooks with a validated registration or installation, whose lock the caller holds. The caller must validate
    /// the returned tags again. Throws errors of hooks.
    func asked(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft {
        let answer = try await environment.hooks.onRegister(draft)
        try checkIsOpen()
        return answer
    }

    /// Starts the work that hooks requested for after the registration or installation is stored, one step after the other.
    func registered(_ draft: RegistrationDraft?) {
        guard let work = draft?.onceKept, !work.isEmpty else { return }
        _ = environment.start { for step in work { await step() } }
    }
}
