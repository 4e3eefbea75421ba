import Logging
import PushHub
import PushModel

// Sends that await approval.
extension RunningServer {
    /// Resumes approved sends that were not sent, and lets undecided requests expire. Called at the start and periodically.
    func maintainApprovals() async {
        do throws(PushError) {
            for text in try await sendGuard.resume(namespace.service(ofHub:)) { log.warning("\(text)") }
            try await sendGuard.expire()
        } catch {
            log.warning("cannot process pending approvals; retrying: \(error.message)")
        }
    }
}
