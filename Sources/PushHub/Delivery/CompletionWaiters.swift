import PushModel

/// Waiters for the ends of notifications, by id. Not thread-safe: it is part of the state of the actor that owns it.
///
/// Call `watch` before reading the state from the store, so that an end in between is not missed.
struct CompletionWaiters: Sendable {
    private struct Watch: Sendable {
        var watchers = 0
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private var watches: [String: Watch] = [:]

    mutating func watch(_ id: String) { watches[id, default: Watch()].watchers += 1 }

    mutating func unwatch(_ id: String) {
        watches[id]?.watchers -= 1
        if watches[id]?.watchers == 0 { watches[id] = nil }
    }

    func hasEnded(_ id: String) -> Bool { watches[id]?.hasEnded == true }

    mutating func wait(_ id: String, _ waiter: CheckedContinuation<Void, Never>) {
        watches[id, default: Watch()].waiters.append(waiter)
    }

    mutating func end(_ id: String) {
        guard let watch = watches[id] else { return }
        watches[id]?.hasEnded = true
        watches[id]?.waiters = []
        for waiter in watch.waiters { waiter.resume() }
    }

    /// Resumes the waiters of a deferred notification, so that they return its current state.
    mutating func dismiss(_ id: String) {
        guard let waiters = watches[id]?.waiters else { return }
        watches[id]?.waiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Resumes all waiters: no notification will end any more.
    mutating func endAll() { for id in watches.keys.sorted() { end(id) } }
}
