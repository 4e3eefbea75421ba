/// Stores the bulk jobs of a hub.
///
/// Errors: `storage.unavailable` (503).
package protocol JobStore: Sendable {
    /// Stores a new or changed job.
    func putJob(_ job: NotificationHubJob) async throws(PushError)
    func job(_ id: String) async throws(PushError) -> NotificationHubJob?
    /// At most `limit` jobs, newest first.
    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob]
    /// Jobs that have not ended, oldest first.
    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob]
    /// Deletes at most `limit` jobs that ended before `time`, oldest first. Returns their number.
    func removeJobs(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int
}
