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

extension Timestamp {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form of date that RFC 9110, section 5.6.7 lets a sender write.
    init?(httpDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]),
            let month = months.firstIndex(of: String(words[2])), let year = Int(words[3]), (1970...9999).contains(year),
            (1...CivilDate.daysIn(month: month + 1, year: year)).contains(day)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0..<61).contains(clock[2])
        else { return nil }
        let days = CivilDate(year: year, month: month + 1, day: day).daysSince1970
        self.init(seconds: days * 86_400 + Int64(clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }
}
