/// A batch on its way through the connections of one event loop.
final class PushJob {
    typealias Completion = @Sendable ([PushOutcome]) -> Void

    /// How its sender names it.
    let number: UInt64
    let batch: PushBatch
    /// The first request that was not given to a connection yet.
    private(set) var next = 0
    private(set) var isCancelled = false
    private var outcomes: [PushOutcome?]
    private var remaining: Int
    /// How many times each came back unsent; empty as long as none did.
    private var returns: [Int] = []
    private let completion: Completion

    init(number: UInt64, batch: PushBatch, completion: @escaping Completion) {
        self.number = number
        self.batch = batch
        self.completion = completion
        remaining = batch.count
        outcomes = Array(repeating: nil, count: batch.count)
    }

    var isBegun: Bool { next == batch.count }

    func takeNext() -> Int {
        next += 1
        return next - 1
    }

    /// How many times it has come back now.
    func returned(_ index: Int) -> Int {
        if returns.isEmpty { returns = Array(repeating: 0, count: batch.count) }
        returns[index] += 1
        return returns[index]
    }

    func cancel() { isCancelled = true }

    func settle(_ index: Int, _ outcome: PushOutcome) {
        precondition(outcomes[index] == nil, "a push has one outcome")
        outcomes[index] = outcome
        remaining -= 1
        if remaining == 0 { completion(outcomes.compactMap { $0 }) }
    }

    /// For all that were not given to a connection.
    func settleRest(_ outcome: PushOutcome) {
        while !isBegun { settle(takeNext(), outcome) }
    }
}

/// One push of a job.
struct Ticket {
    let job: PushJob
    let index: Int
}
