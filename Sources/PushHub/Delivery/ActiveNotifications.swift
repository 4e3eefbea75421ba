import PushModel

/// The notifications in progress: their outcomes, unstored results, cancellations, and waiters.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
final class ActiveNotifications {
    private let context: HubContext
    /// Current outcomes, by id.
    private var outcomes: [String: NotificationOutcome] = [:]
    /// Results that are not stored yet, by sequence number; only for notifications that have few of them.
    private var unstored: [Int64: OutcomeBatch] = [:]
    /// Sequence numbers of outbox notifications that were cancelled before every device had a result.
    private var cancelled: Set<Int64> = []
    var waiters = CompletionWaiters()

    init(_ context: HubContext) { self.context = context }

    /// The current outcome of a notification in progress.
    subscript(id: String) -> NotificationOutcome? {
        get { outcomes[id] }
        set { outcomes[id] = newValue }
    }

    /// The outcome of a notification as it is now.
    func current(_ outcome: NotificationOutcome) -> NotificationOutcome { outcomes[outcome.id] ?? outcome }

    // MARK: - Unstored results

    /// Maximum number of unstored results of one notification that can be queried; larger numbers are stored soon.
    private static let maximumUnstored = 1_000

    func unstoredResults(of sequence: Int64) -> OutcomeBatch? { unstored[sequence] }

    func setUnstored(_ results: OutcomeBatch, of sequence: Int64) {
        unstored[sequence] = results.count <= Self.maximumUnstored ? results : nil
    }

    func resultsStored(of sequence: Int64) { unstored[sequence] = nil }

    // MARK: - Cancellation

    func cancel(_ sequence: Int64) { cancelled.insert(sequence) }

    func isCancelled(_ sequence: Int64) -> Bool { cancelled.contains(sequence) }

    /// Forgets the cancellation of a notification that has ended.
    func forgetCancellation(of sequence: Int64) { cancelled.remove(sequence) }

    // MARK: - Ends

    /// Removes an ended notification from memory and resumes its waiters.
    ///
    /// - Returns: the event for the `onOutcome` hooks; nil if no hook handles it, or the end is not stored.
    func ended(_ outcome: NotificationOutcome, of origin: [String], isStored: Bool = true) -> EndedNotification? {
        outcomes[outcome.id] = nil
        waiters.end(outcome.id)
        guard isStored, context.environment.hooks.hasHook(.onOutcome) else { return nil }
        var outcome = outcome
        outcome.devices = []
        return EndedNotification(hub: context.name, outcome: outcome, origin: origin)
    }

    /// Ends a notification, and calls the `onOutcome` hooks in the background.
    func endedInBackground(_ outcome: NotificationOutcome, of origin: [String], isStored: Bool = true) {
        guard let end = ended(outcome, of: origin, isStored: isStored) else { return }
        let hooks = context.environment.hooks
        _ = context.environment.start { await hooks.onOutcome(end) }
    }
}
