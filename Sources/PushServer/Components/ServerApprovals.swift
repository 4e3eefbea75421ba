import Logging
import PushHub
import PushModel

/// The sends of a server that await approval.
struct ServerApprovals: Sendable {
    let sendGuard: SendGuard
    let namespace: Namespace
    let log: Logger
    let metrics: PrometheusRegistry

    /// Resumes approved sends that were not sent, and lets undecided requests expire. Called at the start and periodically.
    func maintain() async {
        do throws(PushError) {
            for text in try await sendGuard.decisions.resume(namespace.service(ofHub:)) { log.warning("\(text)") }
            try await sendGuard.decisions.expire()
        } catch {
            log.warning("cannot process pending approvals; retrying: \(error.message)")
        }
    }

    /// Sets `pushhost_approvals_waiting`: the number of sends awaiting approval.
    func measure() async {
        guard let waiting = try? await sendGuard.decisions.countPending() else { return }
        metrics.replace("pushhost_approvals_waiting", with: [([], Double(waiting))])
    }
}
