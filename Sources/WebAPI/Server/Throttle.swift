import PushCore
import Synchronization

/// The limits of requests, which hold for all ports together; they may change while the server runs.
package struct Throttles: Sendable {
    let requests: Throttle
    let testSends: Throttle

    /// - Parameters:
    ///   - requestsPerMinute: for each key; nil for no limit.
    ///   - testSendsPerMinute: for each hub; nil for no limit.
    package init(requestsPerMinute: Int? = nil, testSendsPerMinute: Int? = nil) {
        requests = Throttle(perMinute: requestsPerMinute)
        testSends = Throttle(perMinute: testSendsPerMinute)
    }

    package func change(requestsPerMinute: Int?, testSendsPerMinute: Int?) {
        requests.change(perMinute: requestsPerMinute)
        testSends.change(perMinute: testSendsPerMinute)
    }
}

/// Lets so many requests a minute through for each key, evenly, with a minute's worth at once after a pause.
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

    /// From now on; whoever was waiting begins anew.
    func change(perMinute: Int?) {
        let new = State(perMinute: perMinute.map { Double(max(1, $0)) })
        state.withLock { if $0.perMinute != new.perMinute { $0 = new } }
    }

    /// Nil where the request may go on, else the seconds until it may.
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
