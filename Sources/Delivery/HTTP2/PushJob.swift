/// A batch in progress on the connections of one event loop.
final class PushJob {
    typealias Completion = @Sendable ([PushOutcome]) -> Void

    /// The number that its sender gave it.
    let number: UInt64
    let batch: PushBatch
    /// Index of the first request that was not given to a connection yet.
    private(set) var next = 0
    private(set) var isCancelled = false
    private var outcomes: [PushOutcome?]
    private var remaining: Int
    /// How often each request came back unsent; empty while none has.
    private var returns: [Int] = []
    private let completion: Completion

    init(number: UInt64, batch: PushBatch, completion: @escaping Completion) {
        self.number = number
        self.batch = batch
        self.completion = completion
        remaining = batch.count
        outcomes = Array(repeating: nil, count: batch.count)
    }

    var areAllStarted: Bool { next == batch.count }

    func takeNext() -> Int {
        next += 1
        return next - 1
    }

    /// Counts a return of the request and returns the new count.
    func returned(_ index: Int) -> Int {
        if returns.isEmpty { returns = Array(repeating: 0, count: batch.count) }
        returns[index] += 1
        return returns[index]
    }

    func cancel() { isCancelled = true }

    func finish(_ index: Int, _ outcome: PushOutcome) {
        precondition(outcomes[index] == nil, "a push has one outcome")
        outcomes[index] = outcome
        remaining -= 1
        if remaining == 0 { completion(outcomes.compactMap { $0 }) }
    }

    /// Settles all requests that were not given to a connection.
    func finishRest(_ outcome: PushOutcome) {
        while !areAllStarted { finish(takeNext(), outcome) }
    }
}

/// One request of a job.
struct Ticket {
    let job: PushJob
    let index: Int
}
