/// Plans sends of a hub: determines who would receive a notification, and what. Sends nothing.
///
/// A hub that does not support plans throws `target.unsupported` (`PushError.plansUnsupported`).
package protocol SendPlanner: Sendable {
    func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport
    /// Returns a stored plan. Throws `plan.not_found` (404), `plan.expired` (410).
    func plan(_ id: String) async throws(PushError) -> PlanReport
}
