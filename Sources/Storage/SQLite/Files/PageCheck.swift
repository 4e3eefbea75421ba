import GRDB
import PushModel
import Synchronization

/// A check of all pages and indexes of a database, which other connections can use meanwhile.
final class PageCheck: Sendable {
    private let path: String
    private let state = Mutex(State())

    private struct State {
        var isCancelled = false
        /// Nil while there is no query to interrupt.
        var connection: DatabaseQueue?
    }

    init(path: String) { self.path = path }

    /// Runs the check. Blocks the thread.
    ///
    /// - Returns: description of the damage; nil if there is none or the check was cancelled.
    func run() throws -> String? {
        let connection = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
        let isCancelled = state.withLock { state in
            state.connection = connection
            return state.isCancelled
        }
        let flaw = Result { try isCancelled ? nil : connection.read { try SQLiteFile.flaw(in: $0) } }
        state.withLock { $0.connection = nil }
        try connection.close()
        do {
            return try flaw.get()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return nil
        }
    }

    /// Ends a running check.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.interrupt()
        }
    }
}
