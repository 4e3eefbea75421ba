import PushModel

/// Decides when a push that a service did not accept is retried: with exponential backoff, not sooner than the service asks, and within a
/// time window.
///
/// Azure abandons a notification after 30 minutes. This policy applies that window to each device.
///
/// Whether an answer may be retried at all is decided in `Delivery`: the `RetryAdvice` of the service's reason makes the verdict transient
/// or final. ``CircuitBreaker`` decides whether anything is sent to the service meanwhile.
struct RetryPolicy: Sendable, Equatable {
    /// The reason why a push is retried.
    enum FailureKind: Sendable, Hashable {
        /// The service asks for fewer pushes.
        case throttled
        /// The service reports an internal problem.
        case failing
        /// The service cannot be reached; nothing was sent.
        case unreachable
        /// The push was sent but not answered. Delivering twice is better than never.
        case unknown
    }

    /// Time from a device's first attempt to its last.
    var window: Duration = .seconds(1800)
    /// Maximum share by which a pause is lengthened at random, so that retries do not coincide.
    var jitter: Double = 0

    /// The pause after attempt number `attempt`, starting from 1; nil to give up.
    ///
    /// - Parameters:
    ///   - retryAfter: the pause that the service asks for.
    ///   - seed: different for notifications that must not retry at the same time.
    func pause(after attempt: Int, _ issue: FailureKind, retryAfter: Duration?, seed: UInt64) -> Duration? {
        let own = min(issue.first * (1 << min(max(attempt, 1) - 1, 16)), issue.longest)
        let pause = max(own, retryAfter ?? .zero)
        guard pause <= window else { return nil }
        guard jitter > 0 else { return pause }
        let share = Double(SeededRandom(seed: seed &+ UInt64(attempt)).next() >> 11) / Double(1 << 53)
        return .milliseconds(pause.milliseconds + Int64(Double(pause.milliseconds) * jitter * share))
    }
}

extension RetryPolicy.FailureKind {
    fileprivate var first: Duration { self == .throttled ? .seconds(5) : .seconds(1) }

    fileprivate var longest: Duration { self == .throttled ? .seconds(300) : .seconds(60) }

    /// Nil for a final verdict.
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
    /// The pause that the service asks for.
    var retryAfter: Duration? {
        if case .transient(_, let retryAfter) = self { retryAfter } else { nil }
    }
}
