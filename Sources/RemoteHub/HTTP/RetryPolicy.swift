import PushCore

/// When a request to another machine is made again.
///
/// Four attempts from half a second on cover a restart of a server; a machine that names a later moment than that is believed, and
/// the caller is told instead of kept waiting.
package struct RetryPolicy: Sendable {
    package var attempts: Int
    package var first: Duration
    package var longest: Duration

    package init(attempts: Int = 4, first: Duration = .milliseconds(500), longest: Duration = .seconds(20)) {
        self.attempts = attempts
        self.first = first
        self.longest = longest
    }

    /// The first answer is the last.
    package static let none = RetryPolicy(attempts: 1)

    /// How long to wait after attempt number `attempt`; nil to give up. Half of it is left to chance, so that clients that were
    /// turned away together do not come back together.
    func pause(after attempt: Int, asked: Duration?, _ random: any RandomSource) -> Duration? {
        guard attempt < attempts else { return nil }
        if let asked, asked > longest { return nil }
        let own = min(first * (1 << min(attempt - 1, 10)), longest)
        let chance = Int(random.next() % 1000)
        return max(own / 2 + own / 2000 * chance, asked ?? .zero)
    }
}
