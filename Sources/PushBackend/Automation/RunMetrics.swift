import Metrics
import PushModel

/// Metrics of flows.
struct RunMetrics: Sendable {
    /// Counts an ended run by flow and final state.
    func ended(_ run: RunRecord) {
        Counter(label: "pushhost_flow_runs_total", dimensions: [("flow", run.flow), ("state", run.state.rawValue)]).increment()
    }
}
