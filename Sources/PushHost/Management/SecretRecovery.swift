import Crypto
import Glibc
import PushModel
import PushRuntime
import PushServer
import Storage

/// Replaces secrets that the server's key file does not open. No server may be running.
struct SecretRecovery {
    let settings: ServerSettings
    /// Whether to continue without the key file that the folder records and the settings do not name.
    let isKeyLost: Bool

    /// Throws `storage.not_found`, `data.in_use`, `data.key_missing`, and errors of the key file and the storage.
    func renew() async throws(PushError) -> RenewedSecrets {
        guard access("\(settings.data)/\(DataFolder.databaseName)", F_OK) == 0 else {
            throw PushError(
                "storage.not_found", "no database in \(settings.data)", hint: "name the data folder with --data or --config")
        }
        let lock = try DataFolder(path: settings.data)
        // Throws for a damaged database instead of opening it, because opening could change it.
        let database = try await FolderDatabase.examining(lock)
        let file = PayloadKeyFile(settings)
        if !isKeyLost { try await file.checkRecord() }
        let (key, isNew) = try file.keyOrGenerated()
        // The key must be stored before the database is sealed with it.
        if isNew { try file.store(key) }
        let (seal, clock) = (PayloadKeyFile.seal(of: key), SystemClock())
        database.allowMovingLog()
        let renewed = try await SQLiteStorage.renewSecrets(of: lock.database, seal: seal, now: clock.now)
        let session = try await database.open(file, seal: seal) { _ in }
        await OwnerAudit(AuditLog(trail: session.storage.auditTrail, clock: clock)).note(renewed)
        try await session.close()
        return renewed
    }
}
