import Dispatch
package import PushModel

/// Runs blocking work on a thread outside the cooperative pool.
package func blocking<Value: Sendable>(
    _ work: @escaping @Sendable () throws(PushError) -> Value
) async throws(PushError) -> Value {
    try await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(PushError) in try work() })
        }
    }.get()
}
