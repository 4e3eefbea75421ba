import PushModel
import Synchronization

/// The rate limits, shared by all ports. They can change while the server runs.
package struct Throttles: Sendable {
    let requests: Throttle
    let testSends: Throttle

    /// - Parameters:
    ///   - requestsPerMinute: Per key; nil for no limit.
    ///   - testSendsPerMinute: Per hub; nil for no limit.
    package init(requestsPerMinute: Int? = nil, testSendsPerMinute: Int? = nil) {
        requests = Throttle(perMinute: requestsPerMinute)
        testSends = Throttle(perMinute: testSendsPerMinute)
    }

    package func change(requestsPerMinute: Int?, testSendsPerMinute: Int?) {
        requests.change(perMinute: requestsPerMinute)
        testSends.change(perMinute: testSendsPerMinute)
    }
}

/// A rate limiter (token bucket) per key, with a capacity of one minute's requests.
final class Throttle: Sendable {
    private struct Bucket {
        var level: Double
        var time: Timestamp
    }

    private struct State {
        /// Nil for no limit.
        var perMinute: Double?
        var buckets: [String: Bucket] = [:]
    }

    private let state: Mutex<State>
    private static let maximumKeys = 10_000

    /// Nil for no limit.
    init(perMinute: Int?) { state = Mutex(State(perMinute: perMinute.map { Double(max(1, $0)) })) }

    /// Changes the limit and resets all buckets.
    func change(perMinute: Int?) {
        let new = State(perMinute: perMinute.map { Double(max(1, $0)) })
        state.withLock { if $0.perMinute != new.perMinute { $0 = new } }
    }

    /// Nil if the request may proceed, otherwise the number of seconds to wait.
    func wait(_ key: String, now: Timestamp) -> Int? {
        state.withLock { state in
            guard let perMinute = state.perMinute else { return nil }
            if state.buckets.count >= Self.maximumKeys {
                state.buckets = state.buckets.filter { Self.level(of: $0.value, perMinute, now: now) < perMinute - 1 }
            }
            var bucket = state.buckets[key] ?? Bucket(level: perMinute, time: now)
            bucket.level = Self.level(of: bucket, perMinute, now: now)
            bucket.time = max(bucket.time, now)
            defer { state.buckets[key] = bucket }
            guard bucket.level < 1 else {
                bucket.level -= 1
                return nil
            }
            return max(1, Int(((1 - bucket.level) * 60 / perMinute).rounded(.up)))
        }
    }

    private static func level(of bucket: Bucket, _ perMinute: Double, now: Timestamp) -> Double {
        let elapsed = Double(max(0, (now - bucket.time).milliseconds))
        return min(perMinute, bucket.level + elapsed * perMinute / 60_000)
    }
}
