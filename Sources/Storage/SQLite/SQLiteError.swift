import GRDB
import PushModel

extension PushError {
    /// Converts an error of SQLite into one that tells the user what to do.
    ///
    /// - Parameter path: path of the database.
    init(_ error: any Error, database path: String) {
        if let error = error as? PushError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self = StorageError.unavailable("the database \(path) cannot be used: \(error)", hint: "try again")
            return
        }
        let reason = (error.message ?? "\(error.resultCode)").asClause
        switch error.resultCode {
        case .SQLITE_FULL:
            self = StorageError.unavailable("cannot write to \(path): the disk is full", hint: "free disk space, then try again")
        case .SQLITE_READONLY:
            self = StorageError.unavailable(
                "cannot write to \(path): the file is read-only", hint: "give the server write permission")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = StorageError.unavailable(
                "the database \(path) is in use by another program", hint: "stop the other program, then try again")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = StorageError.corruptPages(path, reason)
        case .SQLITE_CONSTRAINT: self = StorageError.conflict("a row cannot be stored in \(path): \(reason)")
        default:
            self = StorageError.unavailable(
                "the database \(path) cannot be used: \(reason) (\(error.extendedResultCode.rawValue))",
                hint: "check the disk and its permissions, then try again")
        }
    }
}
