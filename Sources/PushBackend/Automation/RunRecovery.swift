import PushModel

/// The action for a run that had not ended when the previous process did.
enum RunRecovery {
    /// The run had not started: it is queued.
    case queue
    /// The run is repeated.
    case `repeat`
    /// The run ends in a state without being repeated.
    case end(RunRecord.State, RunReport.Failure)

    /// A run that was interrupted this many times is not repeated: it may be what crashes the server.
    private static let maximumAttempts = 5

    init(_ run: RunRecord) {
        if !run.withheld.isEmpty {
            let names = run.withheld.joined(separator: ", ")
            self = .end(
                .interrupted,
                RunReport.Failure(
                    code: "run.secrets_lost",
                    message: "the server ended before the run, and its secret arguments are not stored: \(names)",
                    hint: "start the flow again with these arguments"))
        } else if run.state != .running {
            self = .queue
        } else if run.guarantee != .atLeastOnce {
            self = .end(
                .interrupted,
                RunReport.Failure(
                    code: "run.interrupted", message: "the server ended during the run; its progress is unknown",
                    hint: "run it again with pushhost runs rerun \(run.id)"))
        } else if run.lifecycle.attempts >= Self.maximumAttempts {
            self = .end(
                .failed,
                RunReport.Failure(
                    code: "run.attempts", message: "the server has ended \(run.lifecycle.attempts) times during the run",
                    hint: "look for the cause in the log, then run it again with pushhost runs rerun \(run.id)"))
        } else {
            self = .repeat
        }
    }
}
