import PushCore
import Synchronization

/// A moment of real time at which something is given up, whatever another machine does.
final class RealDeadline: Sendable {
    private let state = Mutex((timer: Task<Void, Never>?.none, hasPassed: false))

    /// - Parameters:
    ///   - time: from now on; nil for no end.
    ///   - action: called once when it has passed, unless it was called off before.
    init(after time: Duration?, _ action: @escaping @Sendable () -> Void) {
        guard let time else { return }
        let timer = Task { [weak self] in
            // Task.sleep ends the program at durations that it cannot count.
            guard (try? await Task.sleep(for: min(time, .seconds(1_000_000_000)))) != nil, let self else { return }
            state.withLock { $0.hasPassed = true }
            action()
        }
        state.withLock { $0.timer = timer }
    }

    deinit { callOff() }

    var hasPassed: Bool { state.withLock { $0.hasPassed } }

    func callOff() { state.withLock { $0.timer }?.cancel() }

    /// Does work that is cancelled when it takes too long; cancelling the task cancels it as well.
    ///
    /// - Parameter failure: what that is, such as "the target could not be reached".
    /// Throws `target.timeout`.
    static func keeping<Value: Sendable>(
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
            // It was tried again and again, and why that failed is known.
            let cause = last.code.hasPrefix("target.") ? last : nil
            throw PushError(
                "target.timeout", "\(failure) within \(time?.short ?? "")\(cause.map { "; \($0.message)" } ?? "")",
                hint: cause?.hint ?? "try again later; a run may take what --timeout says")
        }
        return try result.get()
    }
}
