import GRDB
import PushModel
import Synchronization

/// Group commit: changes that arrive while a transaction is being written share the next one.
///
/// A change is never delayed to wait for others. Each caller is resumed once its own change is committed.
///
/// Large changes yield to small ones and share transactions of limited size. Small changes therefore wait only briefly while, for example,
/// the outcomes of a million devices are written.
final class ChangeQueue: Sendable {
    private struct Change: Sendable {
        /// Makes the change; returns what to do after the commit. Called again if the transaction failed because of another change.
        let perform: @Sendable (Database) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
        /// The account of the run that is charged for it; nil for none.
        let account: (any WorkAccount)?
        /// Approximate number of bytes written.
        let size: Int
    }

    private struct State {
        var pending: [Change] = []
        /// Large changes in order of arrival; written after `pending`.
        var large: [Change] = []
        var isDraining = false
        var isClosed = false

        /// Removes and returns the changes for the next transaction.
        mutating func next() -> [Change] {
            var remaining = ChangeQueue.largeInTransaction
            let fitting = large.prefix { change in
                defer { remaining -= change.size }
                return remaining >= change.size || remaining == ChangeQueue.largeInTransaction
            }
            large.removeFirst(fitting.count)
            defer { pending = [] }
            return pending + fitting
        }
    }

    /// Number of bytes from which a change is large.
    private static let largeSize = 16_384
    /// Maximum number of bytes of large changes per transaction, about 1 to 2 ms. A larger change gets a transaction of its own.
    private static let largeInTransaction = 524_288

    private let pool: DatabasePool
    private let thread = DatabaseThreads(count: 1)
    /// Called on the writer after a rollback.
    private let onRollback: @Sendable () -> Void
    private let state = Mutex(State())

    init(pool: DatabasePool, onRollback: @escaping @Sendable () -> Void) {
        self.pool = pool
        self.onRollback = onRollback
    }

    /// Performs a change and returns after the commit. A change that throws a `PushError` before writing fails alone. After any other
    /// error, each change of the transaction is retried in one of its own, so that valid changes do not fail with it.
    ///
    /// - Parameters:
    ///   - size: approximate number of bytes written.
    ///   - isLast: whether to close the queue; later changes are rejected.
    func perform<Value: Sendable>(
        size: Int = 0, isLast: Bool = false, _ change: @escaping @Sendable (Database) throws -> Value
    ) async -> Result<Value, any Error> {
        let account = ChargedWork.account
        return await withCheckedContinuation { continuation in
            let change = Change(
                perform: { database in
                    let value = try change(database)
                    return { continuation.resume(returning: .success(value)) }
                },
                fail: { continuation.resume(returning: .failure($0)) }, account: account, size: size)
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

    /// Number of changes that wait for a transaction.
    var waiting: Int { state.withLock { $0.pending.count + $0.large.count } }

    /// Commits the pending changes on the writer thread, then those that arrived meanwhile. Other users of the writer run in between.
    private func drain() {
        thread.perform { [self] in
            var hasMore = true
            while hasMore {
                pool.writeWithoutTransaction { database in
                    let batch = state.withLock { $0.next() }
                    commit(batch[...], on: database)
                }
                hasMore = state.withLock { state in
                    state.isDraining = !state.pending.isEmpty || !state.large.isEmpty
                    return state.isDraining
                }
            }
        }
    }

    /// Performs work for all changes, and charges each account its part.
    private func share(_ batch: ArraySlice<Change>, _ work: () throws -> Void) throws {
        let accounts = batch.compactMap(\.account)
        guard let clock = accounts.first else { return try work() }
        let began = clock.threadTime()
        try work()
        let part = (clock.threadTime() - began) / batch.count
        for account in accounts { account.charge(cpuTime: part) }
    }

    private func commit(_ batch: ArraySlice<Change>, on database: Database) {
        do {
            try database.beginTransaction(.immediate)
        } catch {
            // No change caused the error. Retrying each by itself would only repeat the wait for the lock.
            for change in batch { change.fail(error) }
            return
        }
        var settled: [@Sendable () -> Void] = []
        settled.reserveCapacity(batch.count)
        do {
            for change in batch {
                let written = database.totalChangesCount
                do {
                    settled.append(try change.account.measure { try change.perform(database) })
                } catch let error as PushError where database.totalChangesCount == written {
                    settled.append { change.fail(error) }
                }
            }
            try share(batch) { try database.commit() }
        } catch {
            // SQLite rolls back by itself after some errors.
            if database.isInsideTransaction { try? database.rollback() }
            onRollback()
            if batch.count == 1 {
                for change in batch { change.fail(error) }
            } else {
                for index in batch.indices { commit(batch[index...index], on: database) }
            }
            return
        }
        for finish in settled { finish() }
    }
}
