/// How many pushes may be under way on a connection to an origin, besides what the peer allows: fewer after a connection broke off
/// with pushes of which nobody knows what became, for these are sent once more.
///
/// As TCP does it after a loss (RFC 5681): half as many after a break, and no more than the connection had answered; one more with
/// each answer up to half of what there was before the break, then one more with each time that all of them were answered.
/// Belongs to one event loop.
final class FlightWindow {
    private let limit: Int
    private(set) var size: Int
    private var threshold: Int
    /// Answers since the last time that it grew, beyond the threshold.
    private var answers = 0
    /// The breaks that made it smaller. Connections that were there before one of them say nothing new by breaking off with it.
    private(set) var breaks = 0

    /// - Parameter limit: pushes.
    init(limit: Int) {
        self.limit = limit
        (size, threshold) = (limit, limit)
    }

    /// A push was answered.
    func answered() {
        guard size < limit else { return }
        answers += 1
        guard size < threshold || answers >= size else { return }
        size += 1
        answers = 0
    }

    /// A connection broke off with pushes under way.
    ///
    /// - Parameters:
    ///   - breaks: those before it began.
    ///   - answers: that it gave.
    func broke(since breaks: Int, answers: Int) {
        guard breaks == self.breaks else { return }
        self.breaks += 1
        self.answers = 0
        threshold = max(1, size / 2)
        size = max(1, min(threshold, answers))
    }
}
