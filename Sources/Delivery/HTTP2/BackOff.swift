import NIOCore
import PushModel

/// Exponential backoff with jitter for connection attempts: each pause doubles, at random between half of it and all of it, so that many
/// servers do not reconnect at the same time.
struct BackOff {
    private let shortest: TimeAmount
    private let longest: TimeAmount
    private let random: any RandomSource
    private var failures = 0

    init(limits: HTTP2Limits, random: any RandomSource) {
        shortest = TimeAmount(limits.shortestPause)
        longest = TimeAmount(limits.longestPause)
        self.random = random
    }

    /// Counts a failure and returns the pause that follows it.
    mutating func fail() -> TimeAmount {
        let whole = min(longest.nanoseconds, shortest.nanoseconds << Int64(min(failures, 20)))
        failures += 1
        return .nanoseconds(whole / 2 + Int64(random.next() % UInt64(max(1, whole / 2))))
    }

    mutating func succeed() { failures = 0 }
}
