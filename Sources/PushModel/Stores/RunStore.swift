/// Stores a server's flow runs, the schedules that start them, and hub events that have not been processed.
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

    /// Schedules in the order of their names. Those of a restored backup skip all times before `now`.
    func schedules(startingFrom now: Timestamp) async throws(PushError) -> [StoredSchedule]
    /// Adds a schedule or replaces the one with its name.
    func keep(_ schedule: StoredSchedule) async throws(PushError)
    func removeSchedule(_ name: String) async throws(PushError)

    /// Events that have not been processed, oldest first.
    func events(limit: Int) async throws(PushError) -> [HubEvent]
}

/// The cause of new runs, which is marked as processed with them.
package struct RunCause: Sendable, Equatable {
    /// By schedule name, the time up to which due times have been processed.
    package var heard: [String: Timestamp]
    /// The number of the last processed event; nil if the cause is not an event.
    package var events: Int64?

    package init(heard: [String: Timestamp] = [:], events: Int64? = nil) {
        self.heard = heard
        self.events = events
    }
}

package struct AddedRun: Sendable, Equatable {
    package var run: RunRecord
    /// Whether the run existed before, under the same key.
    package var isRepeated: Bool

    package init(run: RunRecord, isRepeated: Bool) {
        self.run = run
        self.isRepeated = isRepeated
    }
}

/// Selects runs; nil matches all.
package struct RunFilter: Sendable, Equatable {
    package var flow: String?
    package var state: RunRecord.State?
    package var trigger: RunTrigger.Kind?

    package init(flow: String? = nil, state: RunRecord.State? = nil, trigger: RunTrigger.Kind? = nil) {
        self.flow = flow
        self.state = state
        self.trigger = trigger
    }

    package func lets(_ run: RunRecord) -> Bool {
        flow.map { $0 == run.flow } ?? true && state.map { $0 == run.state } ?? true && trigger.map { $0 == run.trigger.kind } ?? true
    }
}
