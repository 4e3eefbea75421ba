import Metrics
import PushModel
import Synchronization

/// Counts and times requests, by route and status.
final class RequestMetrics: Sendable {
    private struct Key: Hashable {
        let route: String
        let status: Int
    }

    private let handles = Mutex<[Key: (counter: Counter, timer: Timer)]>([:])

    func answered(_ route: String, status: Int, after duration: Duration) {
        let key = Key(route: route, status: status)
        let handle = handles.withLock { handles in
            if let known = handles[key] { return known }
            let handle = (
                counter: Counter(
                    label: "pushhost_http_requests_total", dimensions: [("route", route), ("status", String(status))]),
                timer: Timer(label: "pushhost_http_request_seconds", dimensions: [("route", route)])
            )
            handles[key] = handle
            return handle
        }
        handle.counter.increment()
        let (seconds, attoseconds) = duration.components
        handle.timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
