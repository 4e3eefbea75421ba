import NIOCore
import Synchronization

/// Limits how many pushes may be inside at a time, and admits batches in order of arrival. A batch above the limit is admitted alone.
final class AdmissionGate: Sendable {
    private struct Waiter {
        let number: UInt64
        let size: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var inside = 0
        var waiters = CircularBuffer<Waiter>()
        var lastNumber: UInt64 = 0

        func admits(_ size: Int, _ capacity: Int) -> Bool { inside == 0 || inside + size <= capacity }
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Waits until the batch fits. Returns `false` if the task was cancelled meanwhile; then `leave(_:)` must not be called.
    func enter(_ size: Int) async -> Bool {
        let number = state.withLock { state -> UInt64? in
            guard !state.waiters.isEmpty || !state.admits(size, capacity) else {
                state.inside += size
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiters.append(Waiter(number: number, size: size, continuation: continuation)) }
                admit()
                // A cancellation before this waiter was in the list did not find it.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    func leave(_ size: Int) {
        state.withLock { $0.inside -= size }
        admit()
    }

    private func admit() {
        let admitted = state.withLock { state in
            var admitted: [Waiter] = []
            while let first = state.waiters.first, state.admits(first.size, capacity) {
                state.inside += first.size
                admitted.append(state.waiters.removeFirst())
            }
            return admitted
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
        // Smaller batches behind the cancelled one may now fit.
        admit()
    }
}
