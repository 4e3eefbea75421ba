import Synchronization

/// An account of bytes that a server holds for its clients: of requests that are not answered yet, and of answers that were not taken.
/// Accounts form a tree: what is reserved in one is reserved in all accounts above it as well, or in none of them.
package final class BufferAccount: Sendable {
    /// Why nothing was reserved.
    package enum Refusal: Error, Equatable {
        /// The account itself has too little left.
        case own
        /// An account above it has too little left.
        case shared
    }

    private struct State {
        var bytes = 0
        /// The most since the last relief.
        var peak = 0
    }

    private let limit: Int
    private let parent: BufferAccount?
    private let onRelief: (@Sendable () -> Void)?
    private let state = Mutex(State())

    /// Bytes: below such a peak there is nothing worth giving back to the system.
    private static let leastPeak = 16 << 20

    /// - Parameters:
    ///   - limit: in bytes; nil for none.
    ///   - parent: the account above it.
    ///   - onRelief: called when most of what was reserved has been released after a peak. Must not use the account.
    package init(limit: Int?, parent: BufferAccount? = nil, onRelief: (@Sendable () -> Void)? = nil) {
        (self.limit, self.parent, self.onRelief) = (limit ?? .max, parent, onRelief)
    }

    /// Bytes that are reserved now.
    package var bytes: Int { state.withLock { $0.bytes } }

    /// Reserves bytes here and in all accounts above, or nowhere. Every reservation must be paired with a release.
    /// - Parameter beyondOwnLimit: whether the limit of this account does not count: for a request that has begun. Those above count.
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

    /// Gives back what was reserved, here and in all accounts above.
    package func release(_ bytes: Int) {
        let isRelieved = state.withLock { state in
            state.bytes -= bytes
            guard onRelief != nil, state.peak >= Self.leastPeak, state.bytes <= state.peak / 4 else { return false }
            state.peak = state.bytes
            return true
        }
        parent?.release(bytes)
        if isRelieved { onRelief?() }
    }
}
