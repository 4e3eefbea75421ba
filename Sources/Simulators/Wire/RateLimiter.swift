/// Rate limiter: counts events per name in fixed time windows.
struct RateLimiter: Sendable {
    /// Milliseconds.
    let window: Int64
    private var counts: [String: (start: Int64, count: Int)] = [:]
    /// Number of names at which expired windows are removed.
    private var sweepThreshold = 16_384

    init(window: Int64) {
        self.window = window
    }

    /// Counts an event; returns `false` if it exceeds `limit` in the current window.
    mutating func admit(_ name: String, now: Int64, limit: Int) -> Bool {
        if counts.count >= sweepThreshold {
            counts = counts.filter { now - $0.value.start < window }
            sweepThreshold = max(16_384, counts.count * 2)
        }
        let current = counts[name] ?? (now, 0)
        let isOver = now - current.start >= window
        let next = (start: isOver ? now : current.start, count: isOver ? 1 : current.count + 1)
        guard next.count <= limit else { return false }
        counts[name] = next
        return true
    }
}
