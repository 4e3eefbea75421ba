/// When a push that a service did not take is tried again: exponential, never sooner than the service asks, and not for ever.
///
/// Azure abandons a notification after 30 minutes, and so does this, device by device.
struct RetryPolicy: Sendable, Equatable {
    /// Why a push is to be tried again.
    enum Trouble: Sendable, Hashable {
        /// The service wants fewer.
        case throttled
        /// The service has trouble of its own.
        case failing
        /// Nobody answers, and nothing was sent.
        case unreachable
        /// It went out and nobody answered. Once more is better than never.
        case unknown
    }

    /// From a device's first attempt to its last.
    var window: Duration = .seconds(1800)
    /// By how much of itself a pause is longer at most, so that not all come back at the same moment.
    var jitter: Double = 0

    /// How long to wait after attempt number `attempt`, the first one being 1; nil to give up.
    ///
    /// - Parameters:
    ///   - asked: What the service asks for.
    ///   - seed: Different for those who shall not come at the same moment.
    func pause(after attempt: Int, _ trouble: Trouble, asked: Duration?, seed: UInt64) -> Duration? {
        let own = min(trouble.first * (1 << min(max(attempt, 1) - 1, 16)), trouble.longest)
        let pause = max(own, asked ?? .zero)
        guard pause <= window else { return nil }
        guard jitter > 0 else { return pause }
        let share = Double(SeededRandom(seed: seed &+ UInt64(attempt)).next() >> 11) / Double(1 << 53)
        return .milliseconds(pause.milliseconds + Int64(Double(pause.milliseconds) * jitter * share))
    }
}

extension RetryPolicy.Trouble {
    fileprivate var first: Duration { self == .throttled ? .seconds(5) : .seconds(1) }

    fileprivate var longest: Duration { self == .throttled ? .seconds(300) : .seconds(60) }

    /// Nil for a verdict that stands.
    init?(_ verdict: Verdict) {
        switch verdict {
        case .accepted, .rejected: return nil
        case .unknown: self = .unknown
        case .transient(let rejection, _):
            switch rejection.outcome {
            case .throttled, .channelThrottled: self = .throttled
            case .pnsUnreachable: self = .unreachable
            default: self = .failing
            }
        }
    }
}

extension Verdict {
    /// How long the service asks to wait.
    var retryAfter: Duration? {
        if case .transient(_, let retryAfter) = self { retryAfter } else { nil }
    }
}
