import Support
import Synchronization
import Testing

@testable import Bindings

@Suite struct OperationLimiterTests {
    private let limiter = OperationLimiter()
    private let gates = (0..<3 * OperationLimiter.limit).map { _ in Gate() }
    private let begun = Log()

    private final class Log: Sendable {
        private let numbers = Mutex<[Int]>([])

        func append(_ number: Int) { numbers.withLock { $0.append(number) } }
        var all: [Int] { numbers.withLock { $0 } }
    }

    /// Starts operations, in order. Each works until its gate opens.
    private func start() -> [Task<Void, any Error>] {
        gates.indices.map { number in
            Task.immediate {
                try await limiter.enter()
                begun.append(number)
                await gates[number].wait()
                limiter.leave()
            }
        }
    }

    @Test func `a limited number of operations work at a time, in order of arrival`() async throws {
        let operations = start()
        #expect(begun.all == Array(0..<OperationLimiter.limit))
        for (number, operation) in operations.enumerated() {
            let expected = min(number + OperationLimiter.limit, operations.count)
            try await until { begun.all.count == expected }
            #expect(begun.all == Array(0..<expected))
            gates[number].open()
            try await operation.value
        }
    }

    @Test func `a cancelled operation neither begins nor delays others`() async throws {
        let operations = start()
        let waiting = Array(operations[OperationLimiter.limit...])
        let cancelled = Set(stride(from: OperationLimiter.limit, to: gates.count, by: 2))
        for number in cancelled { operations[number].cancel() }
        for operation in waiting where operation.isCancelled {
            await #expect(throws: CancellationError.self) { try await operation.value }
        }
        for gate in gates { gate.open() }
        for operation in operations where !operation.isCancelled { try await operation.value }
        #expect(begun.all.sorted() == gates.indices.filter { !cancelled.contains($0) })
        // Every slot is free again.
        let again = gates.indices.prefix(OperationLimiter.limit).map { _ in Task.immediate { try await limiter.enter() } }
        for operation in again { try await operation.value }
    }

    @Test func `an operation that was cancelled before it arrives does not begin`() async throws {
        let operations = start()
        let late = Task.immediate { [limiter] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await limiter.enter()
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        for gate in gates { gate.open() }
        for operation in operations { try await operation.value }
    }
}
