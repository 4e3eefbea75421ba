import HTTPTypes
import PushModel

/// Tells whether the same notification may be sent again: the property `retry` of each service's reasons.
///
/// The hub decides when it is sent again, and how often (`RetryPolicy` of `PushHub`).
enum RetryAdvice: Sendable, Equatable {
    case never
    /// Later: when the service says so, but not before `atLeast`. Without either, the sender's own backoff applies.
    case later(atLeast: Duration? = nil)
    /// At once and only once, with a new credential.
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
    /// The value of `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3); `nil` if absent, unreadable or in the past.
    func retryAfter(now: Timestamp) -> Duration? {
        guard let text = headers[.retryAfter] else { return nil }
        if let seconds = Int64(text) {
            // Cap at a day: a longer time does not ask for a retry.
            return seconds < 0 ? nil : .seconds(min(seconds, 86_400))
        }
        guard let date = Timestamp(httpDate: text), date > now else { return nil }
        return min(date - now, .seconds(86_400))
    }
}
