import Dispatch
import Support
import Synchronization
import Testing

@testable import PushRuntime

/// Tasks whose work on the threads of a queue is charged to a run.
@Suite struct ChargedExecutorTests {
    private final class Pieces: Sendable {
        private let all = Atomic(0)

        func add() { all.wrappingAdd(1, ordering: .relaxed) }

        var count: Int { all.load(ordering: .relaxed) }
    }

    private actor Ledger {
        var entries = 0

        func add() { entries += 1 }
    }

    @Test func `each piece of a task, of its child tasks and of its actors is charged`() async {
        let (queue, account, ledger) = (DispatchQueue(label: "test"), CountingAccount(), Ledger())
        let pieces = Pieces()
        let executor = ChargedExecutor(account) { work in
            queue.async {
                work()
                pieces.add()
            }
        }
        let task = executor.start {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        await ledger.add()
                        await Task.yield()
                        await ledger.add()
                    }
                }
            }
        }
        await task.value
        // The last piece ends after the task.
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(await ledger.entries == 10)
        // At least the task and its children.
        #expect(pieces.count >= 6 && account.pieces == pieces.count)
    }
}
