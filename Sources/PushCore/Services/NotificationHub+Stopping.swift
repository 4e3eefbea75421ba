// Notifications that are ended before all have them.
extension NotificationHub {
    /// What waits for its turn ends when its turn comes, which is at once: everybody who has no verdict yet is abandoned.
    func stop(_ id: String) async throws(PushError) {
        endings.watch(id)
        defer { endings.unwatch(id) }
        let kept = try await notification(id)
        let sequence = kept.sequence
        guard !kept.outcome.state.isFinal, !endings.hasEnded(id) else { throw Self.nothingToStop(id, kept.outcome.state) }
        guard !kept.request.isTest else {
            throw PushError(
                "notification.not_found", "\(id) is a test send: it ends with whoever waits for it", hint: "end its sender", status: 404)
        }
        environment.note(.delivery, "\(id) is to end now")
        stops.insert(sequence)
        deliveries[sequence]?.cancel()
        putOffs.hurry(sequence)
        if schedule.remove(id) != nil {
            takePlace(sequence) { hub in await hub.goOn(sequence, nil) }
            rearm()
        }
        if crowds.hurry(sequence) || paced.hurry(sequence) { takePlace(sequence) { hub in await hub.goOn(sequence, nil) } }
        pump()
        if !isStopping, !endings.hasEnded(id) { await withCheckedContinuation { endings.wait(id, $0) } }
        let state = try await notification(id).outcome.state
        // The last device may have had it just then.
        guard state == .canceled else { throw Self.nothingToStop(id, state) }
    }

    private static func nothingToStop(_ id: String, _ state: NotificationOutcome.State) -> PushError {
        PushError(
            "notification.not_found", "there is nothing to cancel: notification \(id) has ended, as \(state.rawValue)",
            hint: "what was sent cannot be taken back", status: 404)
    }
}
