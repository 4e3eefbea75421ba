/// Where a server's runs lie, the schedules that begin them, and what happened in hubs and was not looked at yet.
///
/// Errors: `storage.unavailable` (503) where nothing could be kept; then nothing was. `storage.corrupt` (500) for a row that means
/// nothing.
package protocol RunStore: Sendable {
    /// Keeps new runs, and what they come from as dealt with, all in one step. Where a flow has a run of the same key already, there is
    /// no new one.
    ///
    /// - Returns: the runs in their order, each as it is kept now: with its number, or the one that was there before.
    func add(_ runs: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun]
    /// Puts a run in the place of what it was before; nothing where that is forgotten.
    func update(_ run: RunRecord) async throws(PushError)
    /// Nil where there is none with that number, or no longer.
    func run(_ number: Int64) async throws(PushError) -> RunRecord?
    /// Newest first, those below a number, or from the newest on for nil; their reports are left out.
    func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord]
    /// Those that have not ended, oldest first.
    func unfinishedRuns() async throws(PushError) -> [RunRecord]
    /// Forgets runs that ended before `moment`, oldest first, at most `limit`; answers how many.
    func removeRuns(endedBefore moment: Timestamp, limit: Int) async throws(PushError) -> Int

    /// In the order of their names. Those of a backup that was restored begin with what comes from `now` on.
    func schedules(hearingFrom now: Timestamp) async throws(PushError) -> [KeptSchedule]
    /// Adds a schedule, or puts it in the place of the one with its name.
    func keep(_ schedule: KeptSchedule) async throws(PushError)
    func removeSchedule(_ name: String) async throws(PushError)

    /// What happened and is not dealt with, oldest first.
    func events(limit: Int) async throws(PushError) -> [HubEvent]
}

/// What runs come from, as far as it is kept, too.
package struct RunCause: Sendable, Equatable {
    /// By their names, schedules whose moments are dealt with up to then.
    package var heard: [String: Timestamp]
    /// The number of the last event that is dealt with; nil for none.
    package var events: Int64?

    package init(heard: [String: Timestamp] = [:], events: Int64? = nil) {
        self.heard = heard
        self.events = events
    }
}

package struct AddedRun: Sendable, Equatable {
    package var run: RunRecord
    /// It was there before, under the same key.
    package var isRepeated: Bool

    package init(run: RunRecord, isRepeated: Bool) {
        self.run = run
        self.isRepeated = isRepeated
    }
}

/// Which runs are asked for; nil for all.
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
