/// The stored notifications of a hub, whatever their state, until they are deleted.
///
/// Errors: `storage.unavailable` (503).
package protocol NotificationHistory: Sendable {
    /// Nil if there is no notification with this sequence, or no longer.
    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification?
    /// Notifications below `sequence`, or from the newest if nil; newest first.
    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification]
    /// Deletes at most `limit` notifications that ended before `time`, oldest first, with their devices and keys. Returns their number.
    func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int
}
