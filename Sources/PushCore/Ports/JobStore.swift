/// Where a hub's bulk jobs lie.
///
/// Errors: `storage.unavailable` (503).
package protocol JobStore: Sendable {
    /// Keeps a job, new or changed.
    func putJob(_ job: NotificationHubJob) async throws(PushError)
    func job(_ id: String) async throws(PushError) -> NotificationHubJob?
    /// Newest first, at most `limit`.
    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob]
    /// Those that have not ended, oldest first.
    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob]
    /// Forgets jobs that ended before `moment`, oldest first, at most `limit`; answers how many.
    func removeJobs(endedBefore moment: Timestamp, limit: Int) async throws(PushError) -> Int
}
