import Synchronization

/// A queue of messages from any thread to an event loop, with one wake-up for a burst of messages.
final class Mailbox<Letter: Sendable>: Sendable {
    private struct State {
        var letters: [Letter] = []
        /// Whether the loop has been scheduled to read the queue.
        var isCalled = false
    }

    private let state = Mutex(State())

    /// Adds a message. Returns whether the caller must schedule the loop.
    func post(_ letter: Letter) -> Bool {
        state.withLock { state in
            state.letters.append(letter)
            defer { state.isCalled = true }
            return !state.isCalled
        }
    }

    /// Removes and returns all messages, in order.
    func take() -> [Letter] {
        state.withLock { state in
            state.isCalled = false
            defer { state.letters = [] }
            return state.letters
        }
    }
}
