import PushCore

/// The errors of every engine.
enum StorageError {
    static func unavailable(_ message: String, hint: String) -> PushError {
        PushError("storage.unavailable", message, hint: hint, status: 503, isRetryable: true)
    }

    /// - Parameter subject: what cannot be read: a file, or a row of a table by its key.
    static func corrupt(_ subject: String, _ reason: String, details: [String: JSON] = [:]) -> PushError {
        PushError(
            "storage.corrupt", "\(subject) cannot be read: \(reason)", hint: "restore a backup, or use the version that wrote it",
            status: 500, details: details)
    }

    static func conflict(_ message: String) -> PushError {
        PushError(
            "storage.conflict", message, hint: "this is a fault of the server, or two servers use the same storage", status: 500)
    }

    static let memory = PushError(
        "storage.memory", "what is kept in memory has no file to back up or restore", hint: "serve from a database", status: 400)
}
