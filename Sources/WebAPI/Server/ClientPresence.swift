import PushCore

/// Whether the client of a request is still there.
struct ClientPresence: Sendable {
    /// Nobody leaves.
    static let lasting = ClientPresence(nil)

    typealias Departure = @Sendable (_ isWatched: @escaping @Sendable () -> Void) async -> Void

    private let departure: Departure?

    /// - Parameter departure: returns when the client is gone, or when it is cancelled. It calls `isWatched` once it would notice.
    init(_ departure: Departure?) { self.departure = departure }

    /// Does work, which is cancelled when the client goes. Throws what the work throws, and `request.broken` (400) where it has ended
    /// for that alone.
    func during<Answer: Sendable>(
        _ work: @escaping @Sendable () async throws(PushError) -> Answer
    ) async throws(PushError) -> Answer {
        guard let departure else { return try await work() }
        // A client that goes while nobody looks would be waited for to the end.
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
                await departure { watching.finish() }
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
        case .failure, nil: throw Self.gone
        }
    }

    private static let gone = PushError(
        "request.broken", "the client went away before it had an answer", hint: "send it again", status: 400, isRetryable: true)
}
