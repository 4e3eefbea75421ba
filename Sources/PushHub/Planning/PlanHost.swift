import PushModel

/// The actor that owns a hub's registrations, as a planner reaches it from other tasks.
protocol PlanHost: Actor {
    /// Takes a snapshot of the audience.
    func survey(_ request: PlanRequest) async throws(PushError) -> PlanSnapshot
    /// The rows of those registrations that still exist.
    func rows(of audience: PlannedAudience) async throws(PushError) -> [RegistrationRow]
    var planRetention: HubSettings.Retention { get }
}
