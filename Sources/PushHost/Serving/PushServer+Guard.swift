import Logging
import PushCore

// Sends that wait for somebody else's leave.
extension PushServer {
    /// Sends what was allowed and not sent, and lets expire what nobody has decided about; at the start and from time to time.
    func keepGuard() async {
        do throws(PushError) {
            for text in try await sendGuard.resume(namespace.service(ofHub:)) { log.warning("\(text)") }
            try await sendGuard.expire()
        } catch {
            log.warning("sends that wait for leave could not be looked at: \(error.message)")
        }
    }
}
