/// Stores a server's flow runs.
///
/// Errors: `storage.unavailable` (503) if nothing was stored, `storage.corrupt` (500) for an unreadable row.
package protocol RunStore: Sendable {
    /// Stores new runs and marks their cause as processed, in one transaction. If a flow already has a run with the same key, no new run is
    /// stored.
    ///
    /// - Returns: the runs in order, each as stored: with its new number, or the existing run.
    func add(_ runs: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun]
    /// Replaces a stored run. Does nothing if it has been deleted.
    func update(_ run: RunRecord) async throws(PushError)
    /// Nil if there is no run with this number, or no longer.
    func run(_ number: Int64) async throws(PushError) -> RunRecord?
    /// Runs below a number, or from the newest if nil, without their reports; newest first.
    func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord]
    /// Runs that have not ended, oldest first.
    func unfinishedRuns() async throws(PushError) -> [RunRecord]
    /// Deletes at most `limit` runs that ended before `time`, oldest first. Returns their number.
    func removeRuns(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int
}
