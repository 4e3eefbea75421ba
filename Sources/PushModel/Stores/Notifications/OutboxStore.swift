/// Stores a hub's outbox: the notifications that have been accepted and have not ended.
///
/// Errors: `storage.unavailable` (503) if nothing was stored.
package protocol OutboxStore: Sendable {
    /// Stores a new notification. Once this returns `accepted`, a crash does not lose it. Throws `plan.expired` (410) if the notification
    /// is bound to a plan that no longer exists.
    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult
    /// What `accept` would return for this key; nil if the key is unused.
    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult?
    /// Notifications that have not ended (`Enqueued`, `Scheduled`, `Processing`) with a sequence above `sequence`, in order.
    ///
    /// Throws `storage.corrupt` if one of them is unreadable, with its sequence in the details as `sequence`.
    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification]
    /// Notifications with these sequences that have not ended, in order.
    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification]
    /// Stores an update: replaces the outcome, and adds the devices and last outcomes.
    func record(_ progress: NotificationProgress) async throws(PushError)
}
