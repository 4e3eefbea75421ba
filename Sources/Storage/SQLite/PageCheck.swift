import GRDB
import PushCore
import Synchronization

/// A check of the structure of all pages of a database, which other connections go on using.
final class PageCheck: Sendable {
    private let path: String
    private let state = Mutex(State())

    private struct State {
        var isCancelled = false
        /// Nil while there is nothing to interrupt.
        var connection: DatabaseQueue?
    }

    init(path: String) { self.path = path }

    /// Blocks.
    ///
    /// - Returns: what is damaged; nil where nothing is, or where the check was cancelled.
    func run() throws -> String? {
        let connection = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
        let isCancelled = state.withLock { state in
            state.connection = connection
            return state.isCancelled
        }
        // Indexes are not compared with their tables, which would take many times as long.
        let flaws = Result {
            try isCancelled ? ["ok"] : connection.read { try $0.all("PRAGMA quick_check(1)") { $0.text(0) } }
        }
        state.withLock { $0.connection = nil }
        try connection.close()
        do {
            return SQLiteFile.firstFlaw(try flaws.get())
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return nil
        }
    }

    /// Ends a check that is under way.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.interrupt()
        }
    }
}
