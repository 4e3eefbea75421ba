package import PushModel
import Synchronization

/// A deadline in real time, after which an action runs.
package final class RealDeadline: Sendable {
    private let state = Mutex((timer: Task<Void, Never>?.none, hasPassed: false))

    /// - Parameters:
    ///   - time: time until the deadline; nil for no deadline.
    ///   - action: called once after `time`, unless `callOff()` was called before.
    package init(after time: Duration?, _ action: @escaping @Sendable () -> Void) {
        guard let time else { return }
        let timer = Task { [weak self] in
            // Task.sleep traps on very long durations.
            guard (try? await Task.sleep(for: min(time, .seconds(1_000_000_000)))) != nil, let self else { return }
            state.withLock { $0.hasPassed = true }
            action()
        }
        state.withLock { $0.timer = timer }
    }

    deinit { callOff() }

    package var hasPassed: Bool { state.withLock { $0.hasPassed } }

    package func callOff() { state.withLock { $0.timer }?.cancel() }

    /// Runs `work` and cancels it after `time` or when the task is cancelled.
    ///
    /// - Parameter failure: the start of the error message, for example "the target could not be reached".
    /// - Throws: `target.timeout`.
    package static func keeping<Value: Sendable>(
        _ time: Duration?, or failure: String, _ work: @escaping @Sendable () async throws(PushError) -> Value
    ) async throws(PushError) -> Value {
        let task = Task { () async -> Result<Value, PushError> in
            do throws(PushError) {
                let value = try await work()
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        let deadline = RealDeadline(after: time) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        deadline.callOff()
        if case .failure(let last) = result, deadline.hasPassed, !Task.isCancelled {
            // The error of the last attempt is the cause.
            let cause = last.code.hasPrefix("target.") ? last : nil
            throw PushError(
                "target.timeout", "\(failure) within \(time?.short ?? "")\(cause.map { "; \($0.message)" } ?? "")",
                hint: cause?.hint ?? "try again later, or raise --timeout")
        }
        return try result.get()
    }
}
