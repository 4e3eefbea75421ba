/// Congestion window of an origin: limits the pushes in flight per connection, in addition to the peer's limit. It shrinks when a
/// connection is lost with pushes in flight, because their results are unknown and they are sent again.
///
/// Works like TCP after a loss (RFC 5681). On a loss it halves, and does not exceed the number of pushes that the connection had answered.
/// Then it grows by one with each answer up to half of the old size, and after that by one for each full window of answers. Confined to one
/// event loop.
final class CongestionWindow {
    private let limit: Int
    private(set) var size: Int
    private var threshold: Int
    /// Answers since it last grew, above the threshold.
    private var answers = 0
    /// Number of losses that have shrunk it. Other connections that existed at a loss and are lost as well do not shrink it again.
    private(set) var breaks = 0

    /// - Parameter limit: Maximum number of pushes in flight.
    init(limit: Int) {
        self.limit = limit
        (size, threshold) = (limit, limit)
    }

    /// Records an answered push.
    func answered() {
        guard size < limit else { return }
        answers += 1
        guard size < threshold || answers >= size else { return }
        size += 1
        answers = 0
    }

    /// Records the loss of a connection with pushes in flight.
    ///
    /// - Parameters:
    ///   - breaks: Number of losses when the connection was opened.
    ///   - answers: Number of pushes that the connection answered.
    func broke(since breaks: Int, answers: Int) {
        guard breaks == self.breaks else { return }
        self.breaks += 1
        self.answers = 0
        threshold = max(1, size / 2)
        size = max(1, min(threshold, answers))
    }
}
