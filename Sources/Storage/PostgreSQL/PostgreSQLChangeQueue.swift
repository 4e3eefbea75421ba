import PushModel
import Synchronization

/// Group commit: changes that arrive while a transaction is being written share the next one. Each caller is resumed once its own change
/// is committed.
///
/// New notifications of a transaction are stored by one statement.
final class PostgreSQLChangeQueue: Sendable {
    typealias Finish = @Sendable () -> Void

    private struct Change: Sendable {
        enum Work: Sendable {
            /// Makes the change; returns what to do after the commit. Called again if the transaction failed.
            case other(@Sendable (PostgreSQLConnection) throws -> Finish)
            case acceptance(PostgreSQLAcceptance)
        }

        let work: Work
        let fail: @Sendable (any Error) -> Void
        /// The account of the run that is charged for it; nil for none.
        let account: (any WorkAccount)?
        /// Approximate number of bytes written.
        let size: Int
    }

    private struct State {
        var pending: [Change] = []
        var isDraining = false
        var isClosed = false
    }

    /// Maximum number of changes and of bytes per transaction. A larger change gets a transaction of its own.
    private static let largestGroup = 500
    private static let largestSize = 1_048_576
    /// How often a transaction that met another one is repeated.
    private static let attempts = 10

    private let slot: PostgreSQLSlot
    private let state = Mutex(State())

    init(_ slot: PostgreSQLSlot) { self.slot = slot }

    /// Performs a change and returns after the commit. A change that throws a `PushError` before writing fails alone. After any other
    /// error, each change of the transaction is retried in one of its own, so that valid changes do not fail with it.
    ///
    /// - Parameter size: approximate number of bytes written.
    func perform<Value: Sendable>(
        size: Int = 0, _ change: @escaping @Sendable (PostgreSQLConnection) throws -> Value
    ) async -> Result<Value, any Error> {
        let account = ChargedWork.account
        return await withCheckedContinuation { continuation in
            add(
                Change(
                    work: .other { connection in
                        let value = try change(connection)
                        return { continuation.resume(returning: .success(value)) }
                    }, fail: { continuation.resume(returning: .failure($0)) }, account: account, size: size))
        }
    }

    /// Stores a new notification and returns after the commit.
    func accept(_ row: PostgreSQLNotificationRow) async -> Result<AcceptanceResult, any Error> {
        let account = ChargedWork.account
        return await withCheckedContinuation { continuation in
            let acceptance = PostgreSQLAcceptance(row: row) { result in { continuation.resume(returning: result) } }
            add(
                Change(
                    work: .acceptance(acceptance), fail: { continuation.resume(returning: .failure($0)) }, account: account, size: row.size)
            )
        }
    }

    /// Number of changes that wait for a transaction.
    var waiting: Int { state.withLock { $0.pending.count } }

    /// Waits for changes in progress and closes the connection. Later changes fail.
    func close() async {
        state.withLock { $0.isClosed = true }
        // Changes that were added before are written before the slot comes to this.
        await withCheckedContinuation { continuation in
            slot.run { slot in
                slot.disconnect()
                continuation.resume()
            }
        }
    }

    private func add(_ change: Change) {
        let (isRefused, starts) = state.withLock { state in
            if state.isClosed { return (true, false) }
            state.pending.append(change)
            defer { state.isDraining = true }
            return (false, !state.isDraining)
        }
        if isRefused { change.fail(PostgreSQLError.lost("it is closed")) }
        if starts { slot.run { slot in while let group = self.next() { self.commit(group[...], on: slot) } } }
    }

    /// Removes and returns the changes for the next transaction; nil if there are none, and then the next change starts writing again.
    private func next() -> [Change]? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isDraining = false
                return nil
            }
            var size = 0
            let group = state.pending.prefix(Self.largestGroup).prefix { change in
                defer { size += change.size }
                return size == 0 || size + change.size <= Self.largestSize
            }
            defer { state.pending.removeFirst(group.count) }
            return Array(group)
        }
    }

    // MARK: - Writing

    private func commit(_ group: ArraySlice<Change>, on slot: PostgreSQLSlot) {
        do {
            let settled = try slot.retryingLost { connection in
                try Self.repeating { try connection.transaction(.change) { try self.perform(group, on: connection) } }
            }
            for finish in settled { finish() }
        } catch {
            // If no change caused the error, retrying each by itself would only repeat the wait.
            if group.count == 1 || (error as? PostgreSQLError)?.isOfServer == true {
                for change in group { change.fail(error) }
            } else {
                for index in group.indices { commit(group[index...index], on: slot) }
            }
        }
    }

    /// Repeats a transaction while it meets others. A row that another one has stored after it was looked for counts as that a few times.
    static func repeating<Result>(_ work: () throws -> Result) throws -> Result {
        for attempt in 1..<attempts {
            do {
                return try work()
            } catch let error as PostgreSQLError where !error.isUnknown && (error.isConflict || error.isDuplicate && attempt < 3) {
                continue
            }
        }
        return try work()
    }

    private func perform(_ group: ArraySlice<Change>, on connection: PostgreSQLConnection) throws -> [Finish] {
        var settled: [Finish] = []
        settled.reserveCapacity(group.count)
        // In the order of arrival, except that consecutive acceptances are stored together.
        var acceptances: [Change] = []
        func flush() throws {
            if acceptances.isEmpty { return }
            let rows = acceptances.compactMap { if case .acceptance(let acceptance) = $0.work { acceptance } else { nil } }
            try Self.share(acceptances) { settled += try PostgreSQLAcceptance.perform(rows, on: connection) }
            acceptances = []
        }
        for change in group {
            guard case .other(let perform) = change.work else {
                acceptances.append(change)
                continue
            }
            try flush()
            let writes = connection.writes
            do {
                settled.append(try change.account.measure { try perform(connection) })
            } catch let error as PushError where connection.writes == writes {
                settled.append { change.fail(error) }
            }
        }
        try flush()
        return settled
    }

    /// Performs work for all changes, and charges each account its part.
    private static func share(_ changes: [Change], _ work: () throws -> Void) throws {
        let accounts = changes.compactMap(\.account)
        guard let clock = accounts.first else { return try work() }
        let began = clock.threadTime()
        try work()
        let part = (clock.threadTime() - began) / changes.count
        for account in accounts { account.charge(cpuTime: part) }
    }
}
