/// Stores a hub's plans, each with its devices in parts.
///
/// Errors: `storage.unavailable` (503) if nothing was stored, `storage.corrupt` for an unreadable row.
package protocol PlanStore: PlanReader {
    /// Stores a plan with its devices in one transaction, under the number after that of the last plan ever stored. Returns the number; the
    /// one in `plan` is ignored.
    func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64
    /// Deletes at most `limit` plans, oldest first: those made before `time`, and all but the `newest`. Returns their number. A plan is
    /// not deleted while a notification bound to it has not ended.
    func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int
}
