import Synchronization

/// Suspends every task that waits until a call of `open()`, which any thread may make.
package final class Gate: Sendable {
    private let state = Mutex((isOpen: false, waiters: [CheckedContinuation<Void, Never>]()))

    package init() {}

    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Whether any task is waiting.
    package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
