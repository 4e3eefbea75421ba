/// The result of a run.
package struct RunResult: Sendable {
    package var state: RunRecord.State
    package var result: JSON?
    package var failure: RunReport.Failure?

    package init(state: RunRecord.State, result: JSON? = nil, failure: RunReport.Failure? = nil) {
        self.state = state
        self.result = result
        self.failure = failure
    }
}
