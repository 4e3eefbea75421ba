/// Where a hub's plans lie, with the devices of each in parts.
///
/// Errors: `storage.unavailable` (503) where nothing could be kept; then nothing was. `storage.corrupt` for what cannot be read.
package protocol PlanStore: Sendable {
    /// Keeps a plan with its devices, all of it or nothing, under the number behind that of the last one ever kept; answers the number.
    /// That of the plan is not looked at.
    func addPlan(_ plan: KeptPlan, parts: [[UInt8]]) async throws(PushError) -> Int64
    /// The number of the last plan that was ever kept; 0 before the first one.
    func lastPlan() async throws(PushError) -> Int64
    /// Nil where there is none with this number, or no longer.
    func plan(_ number: Int64) async throws(PushError) -> KeptPlan?
    /// Newest first, those below `number`, or from the newest on for nil.
    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [KeptPlan]
    /// The newest with a subject.
    func latestPlan(of subject: String) async throws(PushError) -> KeptPlan?
    /// A part of the devices, from 0 on; nil behind the last one, and where the plan is gone.
    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]?
    /// The ids of notifications that are bound to a plan, the first one first.
    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String]
    /// Forgets plans that were made before `moment`, and all but the `newest`, the oldest first, at most `limit`; answers how many.
    /// A plan stays as long as a notification that is bound to it has not ended.
    func removePlans(madeBefore moment: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int
}
