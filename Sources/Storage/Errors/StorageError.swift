import PushModel

/// The errors of all storage engines.
enum StorageError {
    static func unavailable(_ message: String, hint: String) -> PushError {
        PushError("storage.unavailable", message, hint: hint, status: 503, isRetryable: true)
    }

    /// - Parameter subject: what cannot be read: a file, or a table row by its key.
    static func corrupt(
        _ subject: String, _ reason: String, hint: String = "restore a backup, or use the version that wrote it",
        details: [String: JSON] = [:]
    ) -> PushError {
        PushError("storage.corrupt", "\(subject) cannot be read: \(reason)", hint: hint, status: 500, details: details)
    }

    /// For damaged pages of a database.
    static func corruptPages(_ path: String, _ reason: String) -> PushError {
        corrupt("the database \(path)", reason, hint: "restore a backup with pushhost hub restore FILE")
    }

    /// For unusable files of a database that a server has used. Creating a new database would hide the loss.
    static func damaged(
        _ path: String, _ finding: String,
        hint: String =
            "restore a backup with pushhost hub restore FILE; to start empty, move the data folder away or name another one"
    ) -> PushError {
        PushError("storage.damaged", "the database \(path) \(finding)", hint: hint, status: 500)
    }

    static let unsealed = PushError(
        "storage.sealed", "the database has secrets in plain text, and there is no key to encrypt them with", hint: "give the key file",
        status: 409)

    static func conflict(_ message: String) -> PushError {
        PushError(
            "storage.conflict", message, hint: "this is a fault of the server, or two servers use the same storage", status: 500)
    }

    static let memory = PushError(
        "storage.memory", "data in memory cannot be backed up or restored", hint: "run the server with a database", status: 400)
}
