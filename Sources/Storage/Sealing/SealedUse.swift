import PushModel

/// The purpose of opening a database that is sealed with another key. It determines the hint for the operator.
enum SealedUse {
    /// Starting a server.
    case opening
    /// Restoring a backup while no server runs.
    case restoring
    /// Restoring a backup in a running server, which keeps its own key.
    case restoringInServer

    fileprivate var remedy: String {
        switch self {
        case .opening:
            "put the key file of this database in place, or name it with key.file; if it is lost, pushhost hub renew-secrets continues "
                + "with new access keys and without push credentials"
        case .restoring:
            "restore it with the key file of the server that made it: put that file in place, or name it with key.file; if it is lost, "
                + Self.renewal
        case .restoringInServer:
            "to keep its secrets, stop the server, replace its key file with that of the server that made the backup, and "
                + "then restore; if it is lost, \(Self.renewal)"
        }
    }

    private static let renewal = "add --renew-secrets to continue with new access keys and without push credentials"
}

extension StorageError {
    /// - Parameters:
    ///   - path: path of the database.
    ///   - keyID: id of the key that sealed it.
    ///   - seal: the key in the key file.
    ///   - use: the purpose for which the database was opened.
    static func sealed(_ path: String, keyID: [UInt8], _ seal: SecretSeal, for use: SealedUse) -> PushError {
        PushError(
            "storage.sealed",
            "the secrets of the database \(path) are encrypted with the key \(keyID.hexadecimal), "
                + "and the key file holds the key \(seal.keyID.hexadecimal)",
            hint: use.remedy, status: 409)
    }
}
