import PushModel
import Synchronization

/// Limits how many operations of a run work at a time. The others wait in order of arrival, and end when the run does.
///
/// It does not limit operations that wait for time, devices, push services or other runs, because they may wait for each other.
final class OperationLimiter: Sendable {
    private struct State {
        var free = OperationLimiter.limit
        /// The numbers of operations in order of arrival, including some that were cancelled.
        var queue = FIFOQueue<Int>()
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var lastNumber = 0
    }

    /// Enough to keep a store or another server busy. What is left of them when their run ends takes a fraction of a second.
    static let limit = 32

    private let state = Mutex(State())

    /// Waits for its turn. Throws `CancellationError` if the task is cancelled meanwhile; then ``leave()`` must not be called.
    func enter() async throws {
        let number = state.withLock { state -> Int? in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        let hasEntered = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
        guard hasEntered else { throw CancellationError() }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            while let number = state.queue.next() {
                if let next = state.waiting.removeValue(forKey: number) { return next }
            }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }

    private func wait(_ number: Int, _ continuation: CheckedContinuation<Bool, Never>) {
        let hasEntered = state.withLock { state -> Bool? in
            // A cancellation before this point did not find the operation.
            if Task.isCancelled { return false }
            if state.free > 0 {
                state.free -= 1
                return true
            }
            state.queue.append(number)
            state.waiting[number] = continuation
            return nil
        }
        if let hasEntered { continuation.resume(returning: hasEntered) }
    }
}
