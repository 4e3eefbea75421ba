import Synchronization

/// What any thread leaves for an event loop: one wake-up for a burst of letters.
final class Mailbox<Letter: Sendable>: Sendable {
    private struct State {
        var letters: [Letter] = []
        /// The loop knows that there is something.
        var isCalled = false
    }

    private let state = Mutex(State())

    /// Whether the loop is to be called.
    func post(_ letter: Letter) -> Bool {
        state.withLock { state in
            state.letters.append(letter)
            defer { state.isCalled = true }
            return !state.isCalled
        }
    }

    /// Everything, in the order in which it came.
    func take() -> [Letter] {
        state.withLock { state in
            state.isCalled = false
            defer { state.letters = [] }
            return state.letters
        }
    }
}
