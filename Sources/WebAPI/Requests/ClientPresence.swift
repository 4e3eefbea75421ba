import PushModel

/// Detects whether the client of a request has disconnected.
struct ClientPresence: Sendable {
    /// A client that never disconnects.
    static let lasting = ClientPresence(nil)

    typealias WaitForDisconnect = @Sendable (_ isWatched: @escaping @Sendable () -> Void) async -> Void

    private let waitForDisconnect: WaitForDisconnect?

    /// - Parameter waitForDisconnect: Returns when the client has disconnected or the task is cancelled. Calls `isWatched` once it
    ///   would notice a disconnect.
    init(_ waitForDisconnect: WaitForDisconnect?) { self.waitForDisconnect = waitForDisconnect }

    /// Performs work and cancels it if the client disconnects. Throws the work's errors, and `request.broken` (400) if the work ended only
    /// because of the disconnect.
    func during<Answer: Sendable>(
        _ work: @escaping @Sendable () async throws(PushError) -> Answer
    ) async throws(PushError) -> Answer {
        guard let waitForDisconnect else { return try await work() }
        // Start the work only when the watch is active. Otherwise an earlier disconnect would go unnoticed.
        let (watched, watching) = AsyncStream.makeStream(of: Void.self)
        let (result, isGone) = await withTaskGroup(of: Result<Answer, PushError>?.self) { group in
            group.addTask {
                for await _ in watched {}
                do throws(PushError) {
                    return .success(try await work())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await waitForDisconnect { watching.finish() }
                return nil
            }
            var (result, isGone): (Result<Answer, PushError>?, Bool) = (nil, false)
            while result == nil, let next = await group.next() {
                (result, isGone) = (next, isGone || next == nil)
                group.cancelAll()
            }
            return (result, isGone)
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let error) where !isGone: throw error
        case .failure, nil: throw Self.disconnected
        }
    }

    private static let disconnected = PushError(
        "request.broken", "the client disconnected before the response", hint: "send it again", status: 400, isRetryable: true)
}
