/// When a transient refusal is tried again: exponential, never sooner than the service asks.
///
/// Five attempts from one second on cover a quarter of a minute of trouble. Nothing is tried later than half an hour
/// after the first attempt (Azure abandons a notification after 30 minutes).
struct RetryPolicy: Sendable {
    var attempts = 5
    var first: Duration = .seconds(1)
    var longest: Duration = .seconds(1800)

    /// How long to wait after attempt number `attempt`; nil to give up.
    func pause(after attempt: Int, asked: Duration?) -> Duration? {
        guard attempt < attempts else { return nil }
        let own = first * (1 << min(attempt - 1, 10))
        let pause = max(own, asked ?? .zero)
        return pause <= longest ? pause : nil
    }
}
