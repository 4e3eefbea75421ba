/// Stores the schedules that start flow runs.
///
/// Errors: `storage.unavailable` (503) if nothing was stored, `storage.corrupt` (500) for an unreadable row.
package protocol ScheduleStore: Sendable {
    /// Schedules in the order of their names. Those of a restored backup skip all times before `now`.
    func schedules(startingFrom now: Timestamp) async throws(PushError) -> [StoredSchedule]
    /// Adds a schedule or replaces the one with its name.
    func save(_ schedule: StoredSchedule) async throws(PushError)
    func removeSchedule(_ name: String) async throws(PushError)
}
