import PushModel

// Cancellation of notifications in progress.
extension NotificationHub {
    /// Cancels a notification, and returns once its end is stored. A waiting one is started at once to end it. Devices without a result
    /// are abandoned.
    func stop(_ id: String) async throws(PushError) {
        completionWaiters.watch(id)
        defer { completionWaiters.unwatch(id) }
        let kept = try await notification(id)
        let sequence = kept.sequence
        guard !kept.outcome.state.isFinal, !completionWaiters.hasEnded(id) else { throw Self.nothingToStop(id, kept.outcome.state) }
        guard !kept.request.isTest else {
            throw PushError(
                "notification.not_found", "\(id) is a test send and cannot be cancelled",
                hint: "stop the command or request that waits for it", status: 404)
        }
        environment.note(.delivery, "cancelling \(id)")
        stops.insert(sequence)
        deliveries[sequence]?.cancel()
        deferredSends.hurry(sequence)
        if schedule.remove(id) != nil {
            runSend(sequence) { hub in await hub.resume(sequence, nil) }
            rearm()
        }
        if largeSends.hurry(sequence) || paced.hurry(sequence) { runSend(sequence) { hub in await hub.resume(sequence, nil) } }
        pump()
        if !isStopping, !completionWaiters.hasEnded(id) { await withCheckedContinuation { completionWaiters.wait(id, $0) } }
        let state = try await notification(id).outcome.state
        // The last device may have got it just before.
        guard state == .canceled else { throw Self.nothingToStop(id, state) }
    }

    private static func nothingToStop(_ id: String, _ state: NotificationOutcome.State) -> PushError {
        PushError(
            "notification.not_found", "notification \(id) has ended as \(state.rawValue); nothing was cancelled",
            hint: "sent notifications cannot be recalled", status: 404)
    }
}
