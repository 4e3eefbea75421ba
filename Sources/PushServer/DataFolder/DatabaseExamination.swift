package import PushModel
package import Storage

/// The state of the database in a data folder before it is opened, as its files show it. Startup and `pushhost doctor` both report it.
package struct DatabaseExamination: Sendable {
    package let finding: DatabaseFinding
    /// Why changes may be missing from the log; nil if nothing suggests that.
    package let suspectedLoss: String?

    /// Examines the database of a folder that no server uses, without changing anything.
    ///
    /// Throws `storage.damaged`, `storage.foreign_file` and `storage.unavailable`.
    package init(of database: String, _ mark: DatabaseMark) async throws(PushError) {
        finding = try await SQLiteStorage.examine(database, mark)
        suspectedLoss = try await SQLiteStorage.suspectedLoss(database, mark).map {
            "the database \(database) \($0): the latest changes may be lost"
        }
    }

    /// Checks that the log of a database that a server has open was not removed or truncated, without changing anything. Finds nothing while
    /// the server starts or stops.
    ///
    /// - Parameter folder: a data folder that a server uses.
    /// Throws `storage.damaged` and `storage.unavailable`.
    package static func checkServed(_ database: String, in folder: String) async throws(PushError) {
        let mark = OpenMark(folder: folder)
        guard mark.exists else { return }
        do throws(PushError) {
            try await SQLiteStorage.examineOpenLog(of: database)
        } catch {
            // A server that stops removes the mark before SQLite removes the log.
            if mark.exists { throw error }
        }
    }

    package static let remedy = "if data is missing, restore a backup with pushhost hub restore FILE"
}
