import Synchronization

/// Notices, while single exchanges of a batch go out side by side, that nobody answers any of them: each may take as long as an exchange
/// may last, and all of them many times as long.
///
/// More in a row than are under way at a time, so that connections which break off together are not taken for it.
final class Silence: Sendable {
    /// Fewer say little, however narrow the way.
    private static let least = 20

    private let limit: Int
    private let inRow = Mutex(0)

    /// - Parameter width: exchanges under way at a time.
    init(width: Int) { limit = max(width, Self.least) }

    /// An exchange has ended.
    ///
    /// - Parameter isAnswered: whatever the answer.
    func note(isAnswered: Bool) { inRow.withLock { $0 = isAnswered ? 0 : $0 + 1 } }

    /// Why those that have not gone out need not be tried now; nil where they should.
    var why: String? { inRow.withLock { $0 > limit ? "nobody answered the \($0) pushes before" : nil } }
}
