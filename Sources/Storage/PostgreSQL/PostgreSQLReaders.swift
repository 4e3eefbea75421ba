import PushModel
import Synchronization

/// The connections for reading. Never more than there are slots, whatever hangs.
final class PostgreSQLReaders: Sendable {
    private struct State {
        var idle: [PostgreSQLSlot]
        var waiting: [Work] = []
        var isClosed = false
    }

    private struct Work: Sendable {
        let perform: @Sendable (PostgreSQLSlot) -> Void
        let fail: @Sendable (PostgreSQLError) -> Void
    }

    private let slots: [PostgreSQLSlot]
    private let maximumWaiting: Int
    private let state: Mutex<State>

    init(_ address: PostgreSQLAddress, _ limits: PostgreSQLLimits) {
        slots = (0..<limits.readers).map { _ in PostgreSQLSlot(address, limits) }
        maximumWaiting = limits.waiting
        state = Mutex(State(idle: slots))
    }

    /// Calls `body` on a free connection.
    func read<Value: Sendable>(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value) async -> Result<Value, any Error> {
        let account = ChargedWork.account
        return await withCheckedContinuation { continuation in
            let work = Work(
                perform: { slot in
                    continuation.resume(
                        returning: Result { try slot.retryingLost { connection in try account.measure { try body(connection) } } })
                }, fail: { continuation.resume(returning: .failure($0)) })
            let (slot, refusal) = state.withLock { state -> (PostgreSQLSlot?, PostgreSQLError?) in
                if state.isClosed { return (nil, .lost("it is closed")) }
                if let slot = state.idle.popLast() { return (slot, nil) }
                guard state.waiting.count < maximumWaiting else { return (nil, .lost("too many reads are waiting")) }
                state.waiting.append(work)
                return (nil, nil)
            }
            if let refusal { work.fail(refusal) }
            if let slot { start(work, on: slot) }
        }
    }

    /// Number of reads that wait for a connection.
    var waiting: Int { state.withLock { $0.waiting.count } }

    private func start(_ work: Work, on slot: PostgreSQLSlot) {
        slot.run { slot in
            work.perform(slot)
            let next = self.state.withLock { state -> Work? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle.append(slot)
                return nil
            }
            if let next { self.start(next, on: slot) }
        }
    }

    /// Waits for reads in progress and closes the connections. Later reads fail.
    func close() async {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for work in waiting { work.fail(.lost("it is closed")) }
        for slot in slots {
            await withCheckedContinuation { continuation in
                slot.run { slot in
                    slot.disconnect()
                    continuation.resume()
                }
            }
        }
    }
}
