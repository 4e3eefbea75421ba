import GRDB
import PushCore
import Synchronization

/// Group commit: changes that arrive while one transaction is written share the next one.
///
/// Nobody waits for company: a change that comes alone is committed alone. Each caller is resumed when its own change is safe.
///
/// Large changes let the others go first and come a few at a time, so that whoever has little to write never waits for more than these:
/// the outcomes of a million devices come as fast as they are written, and sends are to be accepted meanwhile.
final class ChangeQueue: Sendable {
    private struct Change: Sendable {
        /// Makes the change; answers what to do when it is safe. May be called again after a transaction that failed.
        let perform: @Sendable (Database) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
        /// In bytes.
        let size: Int
    }

    private struct State {
        var pending: [Change] = []
        /// In order, behind those that are pending.
        var large: [Change] = []
        var isDraining = false
        var isClosed = false

        /// Those of the next transaction.
        mutating func next() -> [Change] {
            var room = ChangeQueue.largeInTransaction
            let fitting = large.prefix { change in
                defer { room -= change.size }
                return room >= change.size || room == ChangeQueue.largeInTransaction
            }
            large.removeFirst(fitting.count)
            defer { pending = [] }
            return pending + fitting
        }
    }

    /// A change of so many bytes is a large one.
    private static let largeSize = 16_384
    /// Of large changes, in bytes: a millisecond or two. One that has more is alone.
    private static let largeInTransaction = 524_288

    private let pool: DatabasePool
    /// Called on the writer when a transaction was taken back.
    private let onRollback: @Sendable () -> Void
    private let state = Mutex(State())

    init(pool: DatabasePool, onRollback: @escaping @Sendable () -> Void) {
        self.pool = pool
        self.onRollback = onRollback
    }

    /// Answers when the change is committed. One that throws a `PushError` before it has written fails alone; after any other
    /// error each change of its transaction gets a transaction of its own, so that its neighbours do not fail with it.
    ///
    /// - Parameters:
    ///   - size: about how much is written, in bytes.
    ///   - isLast: whatever comes later is refused.
    func perform<Value: Sendable>(
        size: Int = 0, isLast: Bool = false, _ change: @escaping @Sendable (Database) throws -> Value
    ) async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            let change = Change(
                perform: { database in
                    let value = try change(database)
                    return { continuation.resume(returning: .success(value)) }
                },
                fail: { continuation.resume(returning: .failure($0)) }, size: size)
            let (isRefused, starts) = state.withLock { state in
                if state.isClosed { return (true, false) }
                state.isClosed = isLast
                if isLast || size >= Self.largeSize { state.large.append(change) } else { state.pending.append(change) }
                defer { state.isDraining = true }
                return (false, !state.isDraining)
            }
            if isRefused { change.fail(DatabaseError(resultCode: .SQLITE_MISUSE, message: "it is closed")) }
            if starts { drain() }
        }
    }

    /// How many changes wait for a transaction.
    var waiting: Int { state.withLock { $0.pending.count + $0.large.count } }

    /// Writes what is pending on GRDB's queue, and then what has come meanwhile; lets others onto the queue in between.
    private func drain() {
        pool.asyncWriteWithoutTransaction { database in
            let batch = self.state.withLock { $0.next() }
            self.commit(batch[...], on: database)
            let goesOn = self.state.withLock { state in
                state.isDraining = !state.pending.isEmpty || !state.large.isEmpty
                return state.isDraining
            }
            if goesOn { self.drain() }
        }
    }

    private func commit(_ batch: ArraySlice<Change>, on database: Database) {
        do {
            try database.beginTransaction(.immediate)
        } catch {
            // None of them is to blame: alone, each would wait as long for the same answer.
            for change in batch { change.fail(error) }
            return
        }
        var settled: [@Sendable () -> Void] = []
        settled.reserveCapacity(batch.count)
        do {
            for change in batch {
                let written = database.totalChangesCount
                do {
                    settled.append(try change.perform(database))
                } catch let error as PushError where database.totalChangesCount == written {
                    settled.append { change.fail(error) }
                }
            }
            try database.commit()
        } catch {
            // SQLite takes some transactions back by itself.
            if database.isInsideTransaction { try? database.rollback() }
            onRollback()
            if batch.count == 1 {
                for change in batch { change.fail(error) }
            } else {
                for place in batch.indices { commit(batch[place...place], on: database) }
            }
            return
        }
        for finish in settled { finish() }
    }
}
