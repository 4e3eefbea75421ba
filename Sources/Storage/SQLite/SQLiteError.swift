import GRDB
import PushCore

extension PushError {
    /// What an error of SQLite means for whoever asked.
    ///
    /// - Parameter path: of the database.
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
            self = StorageError.unavailable("nothing can be kept in \(path): the disk is full", hint: "make room; then try again")
        case .SQLITE_READONLY:
            self = StorageError.unavailable(
                "nothing can be kept in \(path): the file is read-only", hint: "give the server the right to write it")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self = StorageError.unavailable(
                "the database \(path) is in use by another program", hint: "end the other program; then try again")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = StorageError.corruptPages(path, reason)
        case .SQLITE_CONSTRAINT: self = StorageError.conflict("a row cannot be kept in \(path): \(reason)")
        default:
            self = StorageError.unavailable(
                "the database \(path) cannot be used: \(reason) (\(error.extendedResultCode.rawValue))",
                hint: "look at the disk and its permissions; then try again")
        }
    }
}
