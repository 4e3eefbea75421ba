/// Reads a hub's stored plans.
///
/// Errors: `storage.unavailable` (503), `storage.corrupt` for an unreadable row.
package protocol PlanReader: Sendable {
    /// The number of the last plan ever stored; 0 if there never was one.
    func lastPlan() async throws(PushError) -> Int64
    /// Nil if there is no plan with this number, or no longer.
    func plan(_ number: Int64) async throws(PushError) -> StoredPlan?
    /// Plans below `number`, or from the newest if nil; newest first.
    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan]
    /// The newest plan with this subject.
    func latestPlan(of subject: String) async throws(PushError) -> StoredPlan?
    /// A part of the devices, counted from 0. Nil after the last part, and if the plan no longer exists.
    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]?
    /// The ids of notifications bound to a plan, oldest first.
    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String]
}
