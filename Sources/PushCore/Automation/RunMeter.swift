import Metrics

/// What flows count, for whoever watches a server.
struct RunMeter: Sendable {
    /// A run has ended so.
    func ended(_ run: RunRecord) {
        Counter(label: "pushhost_flow_runs_total", dimensions: [("flow", run.flow), ("state", run.state.rawValue)]).increment()
    }
}
