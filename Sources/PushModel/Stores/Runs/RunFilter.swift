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
