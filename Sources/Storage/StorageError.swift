import PushCore

/// The errors of every engine.
enum StorageError {
    static func unavailable(_ message: String, hint: String) -> PushError {
        PushError("storage.unavailable", message, hint: hint, status: 503, isRetryable: true)
    }

    /// - Parameter subject: what cannot be read: a file, or a row of a table by its key.
    static func corrupt(
        _ subject: String, _ reason: String, hint: String = "restore a backup, or use the version that wrote it",
        details: [String: JSON] = [:]
    ) -> PushError {
        PushError("storage.corrupt", "\(subject) cannot be read: \(reason)", hint: hint, status: 500, details: details)
    }

    /// Pages of a database are damaged.
    static func corruptPages(_ path: String, _ reason: String) -> PushError {
        corrupt("the database \(path)", reason, hint: "put a backup in its place with pushhost hub restore FILE")
    }

    /// The files of a database that a server had cannot be used, and a new one in their place would hide that.
    static func damaged(
        _ path: String, _ finding: String,
        hint: String =
            "put a backup in its place with pushhost hub restore FILE; to begin anew, move the data folder away or name another one"
    ) -> PushError {
        PushError("storage.damaged", "the database \(path) \(finding)", hint: hint, status: 500)
    }

    /// - Parameters:
    ///   - path: of the database.
    ///   - keyID: of the key that it is sealed with.
    ///   - seal: of the key that is there.
    ///   - use: what the database was to be used for.
    static func sealed(_ path: String, keyID: [UInt8], _ seal: SecretSeal, for use: SealedUse) -> PushError {
        PushError(
            "storage.sealed",
            "the secrets of the database \(path) are sealed with the key \(keyID.hexadecimal), "
                + "and the key file holds the key \(seal.keyID.hexadecimal)",
            hint: use.remedy, status: 409)
    }

    static let unsealed = PushError(
        "storage.sealed", "the database has secrets in clear, and there is no key to seal them with", hint: "give the key file", status: 409
    )

    static func conflict(_ message: String) -> PushError {
        PushError(
            "storage.conflict", message, hint: "this is a fault of the server, or two servers use the same storage", status: 500)
    }

    static let memory = PushError(
        "storage.memory", "what is kept in memory has no file to back up or restore", hint: "serve from a database", status: 400)
}

/// What a database that is sealed with another key was to be used for. It decides what the operator can do.
enum SealedUse {
    /// A server starts with it.
    case opening
    /// A backup is restored where no server runs.
    case restoring
    /// A backup is restored by a server, which keeps its own key.
    case restoringInServer

    fileprivate var remedy: String {
        switch self {
        case .opening:
            "put the key file of this database in its place, or name it with key.file; if it is lost, pushhost hub renew-secrets goes on "
                + "with new access keys and without push credentials"
        case .restoring:
            "restore it with the key file of the server that made it: put that file in place, or name it with key.file; if it is lost, "
                + Self.renewal
        case .restoringInServer:
            "to keep its secrets, end the server, put the key file of the server that made the backup in the place of this one's, and "
                + "restore then; if it is lost, \(Self.renewal)"
        }
    }

    private static let renewal = "add --renew-secrets to go on with new access keys and without push credentials"
}
