package import PushModel
package import Storage
import Synchronization

/// The open database of a data folder, until it is closed.
package final class DatabaseSession: Sendable {
    package let storage: SQLiteStorage
    private let mark: OpenMark
    /// Whether the database had not been closed when it was opened.
    private let hadLog: Bool
    private let isServing = Atomic(false)

    init(_ storage: SQLiteStorage, _ mark: OpenMark, hadLog: Bool) {
        (self.storage, self.mark, self.hadLog) = (storage, mark, hadLog)
    }

    /// Marks the folder, before the first change is acknowledged: from now on the database must have a log until it is closed.
    ///
    /// Throws `data.unusable`, and `storage.unavailable`, for example on a full disk. The database can be used nevertheless.
    func serve() async throws(PushError) {
        isServing.store(true, ordering: .releasing)
        // The log gets a change that is on the disk before the mark is. From then on, SQLite never shortens it to less than a frame.
        try await storage.checkWriting()
        try mark.write()
    }

    /// Closes the database. Leaves a log that it had before, with its mark, if the start failed before `serve`.
    package func close() async throws(PushError) {
        guard isServing.load(ordering: .acquiring) || !hadLog else { return try await storage.closeKeepingLog() }
        // SQLite removes the log when it closes the database, so the mark must be gone before. Before that, the changes must be in the
        // database, which fails on a full disk.
        do throws(PushError) {
            try await storage.checkpoint()
        } catch {
            return try await storage.closeKeepingLog()
        }
        guard mark.remove() else { return try await storage.closeKeepingLog() }
        try await storage.close()
    }
}
