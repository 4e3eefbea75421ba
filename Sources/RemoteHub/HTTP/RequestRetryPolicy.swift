import PushModel

/// Decides when a request to another machine is repeated. Pushes have a retry policy of their own, in `PushHub`.
///
/// Four attempts, starting with half a second, cover the restart of a server. If the machine requests a longer wait, the error is reported
/// to the caller instead.
package struct RequestRetryPolicy: Sendable {
    package var attempts: Int
    package var first: Duration
    package var longest: Duration

    package init(attempts: Int = 4, first: Duration = .milliseconds(500), longest: Duration = .seconds(20)) {
        self.attempts = attempts
        self.first = first
        self.longest = longest
    }

    /// A policy without repeated attempts.
    package static let none = RequestRetryPolicy(attempts: 1)

    /// The wait time after attempt number `attempt`; nil: give up. Half of it is random, so that clients rejected at the same time do not
    /// return at the same time.
    func pause(after attempt: Int, retryAfter: Duration?, _ random: any RandomSource) -> Duration? {
        guard attempt < attempts else { return nil }
        if let retryAfter, retryAfter > longest { return nil }
        let own = min(first * (1 << min(attempt - 1, 10)), longest)
        let chance = Int(random.next() % 1000)
        return max(own / 2 + own / 2000 * chance, retryAfter ?? .zero)
    }
}
