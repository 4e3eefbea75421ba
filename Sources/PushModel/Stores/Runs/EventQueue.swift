/// The stored hub events that flows have not processed. A registration change or a notification's progress adds them.
///
/// Errors: `storage.unavailable` (503) if nothing was stored, `storage.corrupt` (500) for an unreadable row.
package protocol EventQueue: Sendable {
    /// Events that have not been processed, oldest first.
    func events(limit: Int) async throws(PushError) -> [HubEvent]
}
