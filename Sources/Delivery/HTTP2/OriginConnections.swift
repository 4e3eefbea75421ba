import NIOCore
import PushModel
import Synchronization

/// The thread-safe entry to the connections of one origin.
final class OriginConnections: Sendable {
    private let loop: any EventLoop
    private let pool: NIOLoopBoundBox<ConnectionPool>
    private let mailbox = Mailbox<ConnectionPool.Letter>()
    private let gate: AdmissionGate
    private let lastNumber = Atomic<UInt64>(0)

    init(loop: any EventLoop, limits: HTTP2Limits, pool: sending ConnectionPool) {
        self.loop = loop
        gate = AdmissionGate(capacity: limits.pushes)
        self.pool = .makeBoxSendingValue(pool, eventLoop: loop)
    }

    func send(_ batch: PushBatch) async -> [PushOutcome] {
        guard await gate.enter(batch.count) else { return Array(repeating: .notSent(.cancelled), count: batch.count) }
        defer { gate.leave(batch.count) }
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                post(.send(number: number, batch) { continuation.resume(returning: $0) })
                // A cancellation before the job was posted did not find it.
                if Task.isCancelled { post(.cancel(number: number)) }
            }
        } onCancel: {
            post(.cancel(number: number))
        }
    }

    /// Rejects waiting pushes, waits some time for pushes in flight, and closes the connections.
    func close() async {
        let promise = loop.makePromise(of: Void.self)
        post(.close(promise))
        try? await promise.futureResult.get()
    }

    /// Closes an unused line without waiting.
    func giveUp() {
        post(.close(loop.makePromise(of: Void.self)))
    }

    private func post(_ letter: ConnectionPool.Letter) {
        guard mailbox.post(letter) else { return }
        loop.execute { [mailbox, pool] in pool.value.take(mailbox.take()) }
    }
}
