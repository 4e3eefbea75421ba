import Synchronization

/// Counts the bytes that a server buffers for its clients: unanswered requests and unread responses. Accounts form a tree. A reservation
/// counts in an account and all accounts above it, or fails in all.
package final class BufferAccount: Sendable {
    /// The reason why a reservation failed.
    package enum Refusal: Error, Equatable {
        /// The account's own limit is exhausted.
        case own
        /// The limit of an account above is exhausted.
        case shared
    }

    private struct State {
        var bytes = 0
        /// The highest value since memory was last freed.
        var peak = 0
    }

    let limit: Int
    /// The account above.
    let parent: BufferAccount?
    private let onMemoryFreed: (@Sendable () -> Void)?
    private let state = Mutex(State())

    /// Minimum peak in bytes. Below it there is nothing worth returning to the system.
    private static let leastPeak = 16 << 20

    /// - Parameters:
    ///   - limit: Maximum number of bytes; nil for none.
    ///   - parent: The account above.
    ///   - onMemoryFreed: Called when most of a peak has been released. It must not use the account.
    package init(limit: Int?, parent: BufferAccount? = nil, onMemoryFreed: (@Sendable () -> Void)? = nil) {
        (self.limit, self.parent, self.onMemoryFreed) = (limit ?? .max, parent, onMemoryFreed)
    }

    /// Bytes currently reserved.
    package var bytes: Int { state.withLock { $0.bytes } }

    /// Reserves bytes here and in all accounts above, or fails without effect. Every reservation must be paired with a release.
    /// - Parameter beyondOwnLimit: Ignores this account's own limit, for a request that has begun. Limits above still apply.
    package func reserve(_ bytes: Int, beyondOwnLimit: Bool = false) throws(Refusal) {
        let refusal = state.withLock { state -> Refusal? in
            let (sum, isTooMuch) = state.bytes.addingReportingOverflow(bytes)
            guard !isTooMuch, beyondOwnLimit || sum <= limit else { return .own }
            do throws(Refusal) {
                try parent?.reserve(bytes)
            } catch {
                return .shared
            }
            state.bytes = sum
            state.peak = max(state.peak, sum)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Releases bytes here and in all accounts above.
    package func release(_ bytes: Int) {
        let isRelieved = state.withLock { state in
            state.bytes -= bytes
            guard onMemoryFreed != nil, state.peak >= Self.leastPeak, state.bytes <= state.peak / 4 else { return false }
            state.peak = state.bytes
            return true
        }
        parent?.release(bytes)
        if isRelieved { onMemoryFreed?() }
    }
}
