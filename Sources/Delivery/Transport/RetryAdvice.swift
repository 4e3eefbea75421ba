import HTTPTypes
import PushCore

/// Whether the same notification may succeed another time.
enum RetryAdvice: Sendable, Equatable {
    case never
    /// Later: when the service says so, but not before `atLeast`. Without either the sender's own back-off decides.
    case later(atLeast: Duration? = nil)
    /// At once, with a new credential, and only once.
    case withNewCredential

    func verdict(_ rejection: Rejection, retryAfter: Duration?) -> Verdict {
        switch self {
        case .never, .withNewCredential: return .rejected(rejection)
        case .later(let floor):
            guard let floor else { return .transient(rejection, retryAfter: retryAfter) }
            return .transient(rejection, retryAfter: max(floor, retryAfter ?? floor))
        }
    }
}

extension PushResponse {
    /// `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3); nil when absent, unreadable or in the past.
    func retryAfter(now: Timestamp) -> Duration? {
        guard let text = headers[.retryAfter] else { return nil }
        if let seconds = Int64(text) {
            // A service that asks for more than a day is not asking for a retry.
            return seconds < 0 ? nil : .seconds(min(seconds, 86_400))
        }
        guard let date = Timestamp(httpDate: text), date > now else { return nil }
        return min(date - now, .seconds(86_400))
    }
}
