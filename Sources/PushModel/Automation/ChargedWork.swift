/// Work for a run: what it is charged for outside of its script.
package enum ChargedWork {
    /// The account of the run for which the current task works; nil if it works for no run, or for a send that outlives its run.
    @TaskLocal package static var run: (any WorkAccount)?
    /// The account that is charged for the current task's CPU time on threads other than the run's own; nil if it is not charged.
    @TaskLocal package static var account: (any WorkAccount)?

    /// Throws `cancelled` if the current task works for a run that has ended or has spent a budget. Call it where work begins that may have
    /// waited in a queue, before anything is stored.
    package static func check() throws(PushError) {
        guard let run, Task.isCancelled || !run.canContinue else { return }
        throw PushError("cancelled", "the run has ended", hint: "start the flow again", status: 503)
    }

    /// Performs work that is not charged to a run, for example because it outlives the run.
    package static func withoutRun<Result>(_ work: () throws -> Result) rethrows -> Result {
        guard run != nil || account != nil else { return try work() }
        return try $run.withValue(nil) { try $account.withValue(nil, operation: work) }
    }
}
