import NIOCore
import PushCore
import Synchronization

/// The way to one origin, for any thread.
final class PushLine: Sendable {
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
                // A cancellation that came before could not find it.
                if Task.isCancelled { post(.cancel(number: number)) }
            }
        } onCancel: {
            post(.cancel(number: number))
        }
    }

    /// Answers what waits, awaits what is under way for a while, and closes the connections.
    func close() async {
        let promise = loop.makePromise(of: Void.self)
        post(.close(promise))
        try? await promise.futureResult.get()
    }

    /// The same for one that nobody sends over any more, without waiting for it.
    func giveUp() {
        post(.close(loop.makePromise(of: Void.self)))
    }

    private func post(_ letter: ConnectionPool.Letter) {
        guard mailbox.post(letter) else { return }
        loop.execute { [mailbox, pool] in pool.value.take(mailbox.take()) }
    }
}
