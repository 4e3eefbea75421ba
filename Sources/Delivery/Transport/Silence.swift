import Synchronization

/// Detects a service that does not respond, while the exchanges of a batch run concurrently. Otherwise each of them could last as long as
/// the timeout.
///
/// The limit is above the number of concurrent exchanges, so that connections that fail together do not reach it.
final class Silence: Sendable {
    /// Smallest limit: a few failures mean little, however narrow the batch.
    private static let least = 20

    private let limit: Int
    private let inRow = Mutex(0)

    /// - Parameter width: Maximum number of concurrent exchanges.
    init(width: Int) { limit = max(width, Self.least) }

    /// Records the end of an exchange.
    ///
    /// - Parameter isAnswered: Whether there was any response.
    func note(isAnswered: Bool) { inRow.withLock { $0 = isAnswered ? 0 : $0 + 1 } }

    /// Why the remaining requests should not be tried now; `nil` if they should.
    var why: String? { inRow.withLock { $0 > limit ? "no response to the previous \($0) pushes" : nil } }
}
