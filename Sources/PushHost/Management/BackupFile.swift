import FoundationEssentials
import Glibc
import PushModel
import PushRuntime
import PushServer
import Storage

/// Makes and restores backups of all data of a server. A running server does it itself; otherwise this locks the data folder and works on
/// it.
struct BackupFile {
    let settings: ServerSettings

    /// The data folder.
    private var folder: String { settings.data }
    private static let pieceSize = 1 << 20
    /// Time limit of the request to the server.
    private static let timeout = Duration.seconds(6 * 3600)

    /// Makes a backup.
    ///
    /// - Parameters:
    ///   - path: the file to create.
    ///   - overwrites: whether to replace an existing file.
    /// Throws `storage.backup_exists`, `backup.failed`, and errors of the storage or the server.
    func make(_ path: String, overwrites: Bool) async throws(PushError) {
        guard overwrites || access(path, F_OK) != 0 else { throw Self.exists(path) }
        try checkTarget(path)
        try await withName { name throws(PushError) in
            let copy = "\(folder)/\(name)"
            if let lock = try await lockIfFree(makingFolder: false) {
                let database = try await FolderDatabase.examining(lock)
                guard !database.isNew else { throw missing() }
                try await SQLiteStorage.copy(lock.database, to: copy, sealing: try await seal(for: lock.database))
            } else {
                try await ask("backup", name)
            }
            try await blocking { () throws(PushError) in try Self.copy(copy, to: path, overwrites: overwrites) }
        }
    }

    /// The seal for the copy of a database that an older version wrote, which stores its secrets in the clear. Nil if the database is
    /// sealed already: its copy stays sealed and needs no key.
    private func seal(for database: String) async throws(PushError) -> SecretSeal? {
        guard try await SQLiteStorage.sealing(of: database) == nil else { return nil }
        return PayloadKeyFile.seal(of: try PayloadKeyFile(settings).key())
    }

    /// The seal of the running server for the copy of a backup in clear, which must not reach the data folder as it is. Nil if the backup
    /// is sealed already.
    private func sealOfServer(for backup: String) async throws(PushError) -> SecretSeal? {
        guard try await SQLiteStorage.sealing(of: backup) == nil else { return nil }
        return PayloadKeyFile.seal(of: try PayloadKeyFile.recorded(in: folder).key())
    }

    /// Throws if the path is in the data folder, or is a device, a folder or a link.
    private func checkTarget(_ path: String) throws(PushError) {
        let slash = path.lastIndex(of: "/")
        try checkDestination(path, Self.real(slash.map { String(path[...$0]) } ?? "."))
        if let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType, kind != .typeRegular {
            throw PushError("backup.failed", "\(path) exists and is not a regular file", hint: "name another file")
        }
    }

    /// Throws if a file is in the data folder.
    /// - Parameter destination: the path without links; nil if it does not exist.
    private func checkDestination(_ path: String, _ destination: String?) throws(PushError) {
        guard let destination, let own = Self.real(folder), destination == own || destination.hasPrefix("\(own)/") else { return }
        throw PushError("backup.failed", "\(path) is in the data folder", hint: "name a file outside of it")
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Checks that a file can be restored, before anything else is done. Throws `storage.not_found`, `storage.foreign_file`,
    /// `storage.damaged`, `storage.newer_schema`, and `backup.failed` for a file in the data folder.
    func checkBackup(_ path: String) async throws(PushError) {
        guard access(path, R_OK) == 0 else {
            throw PushError(
                "storage.not_found", "the backup \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "name a file created by pushhost hub backup")
        }
        try checkDestination(path, Self.real(path))
        try await SQLiteStorage.checkBackup(path)
    }

    /// Restores a backup. Throws `storage.not_found`, `storage.foreign_file`, `storage.newer_schema`, `storage.sealed`, `storage.corrupt`,
    /// `data.key_missing`, `backup.failed`.
    ///
    /// - Parameters:
    ///   - renewsSecrets: whether secrets that the key file does not open get new values.
    ///   - isKeyLost: whether to continue without the key file that the folder records and the settings do not name.
    /// - Returns: what was wrong with the previous database if it could only be replaced, and what was renewed.
    func restore(_ path: String, renewsSecrets: Bool, isKeyLost: Bool) async throws(PushError) -> (flaw: PushError?, renewed: JSON) {
        try await checkBackup(path)
        if let lock = try await lockIfFree(makingFolder: true) {
            if !isKeyLost { try await PayloadKeyFile(settings).checkRecord(opening: path) }
            return try await replace(in: lock, from: path, renewsSecrets)
        }
        var renewed = RenewedSecretsDocument(RenewedSecrets()).json
        try await withName { name throws(PushError) in
            // Copied with SQLite, which includes what is still in the write-ahead log.
            try await SQLiteStorage.copy(path, to: "\(folder)/\(name)", sealing: try await sealOfServer(for: path))
            do throws(PushError) {
                let answer = try await ask("restore", name, renewsSecrets ? ["renewSecrets": true] : [:])
                if answer.object != nil { renewed = answer }
            } catch {
                // The operator knows the path of the backup, not that of its temporary copy.
                var error = error
                for copy in ["\(folder)/\(name)", name] { error.message = error.message.replacing(copy, with: path) }
                throw error
            }
        }
        return (nil, renewed)
    }

    /// Replaces the database while no server runs. The audit entry of the restoration follows those of the backup.
    private func replace(
        in folder: DataFolder, from path: String, _ renewsSecrets: Bool
    ) async throws(PushError) -> (flaw: PushError?, renewed: JSON) {
        let (file, clock) = (PayloadKeyFile(settings), SystemClock())
        let (key, isNew) = try file.keyOrGenerated()
        let end = await Self.lastEntry(of: folder)
        let replaced: FolderDatabase.Replacement
        do throws(PushError) {
            replaced = try await FolderDatabase.replace(
                in: folder, from: path, file, seal: PayloadKeyFile.seal(of: key), renewsSecrets ? .renewed(at: clock.now) : .refused
            ) { () throws(PushError) in
                // The key must be stored before a database is sealed with it.
                if isNew { try file.store(key) }
            }
        } catch {
            guard isNew, error.code == "storage.sealed" else { throw error }
            var error = error
            error.message = "the backup \(path) is encrypted, and the key file \(file.path) is missing; nothing was restored"
            throw error
        }
        let audit = OwnerAudit(AuditLog(trail: replaced.storage.auditTrail, clock: clock))
        await audit.noteRestoration(end)
        await audit.note(replaced.renewed)
        try await replaced.session.close()
        return (replaced.flaw, RenewedSecretsDocument(replaced.renewed).json)
    }

    /// The last audit entry; nil if it cannot be read. Does not open a damaged database, because opening could change it.
    private static func lastEntry(of folder: DataFolder) async -> AuditEntry? {
        guard let database = try? await FolderDatabase.examining(folder), !database.isNew else { return nil }
        return try? await SQLiteAuditFile(path: folder.database).entries(before: nil, limit: 1, AuditFilter()).first
    }

    /// Locks the data folder. Nil if a running server has locked it.
    private func lockIfFree(makingFolder: Bool) async throws(PushError) -> DataFolder? {
        guard makingFolder || access("\(folder)/lock", F_OK) == 0 || access("\(folder)/\(DataFolder.databaseName)", F_OK) == 0 else {
            throw missing()
        }
        do throws(PushError) {
            // If a server runs, it makes the copy, even if its database file has been deleted.
            return try DataFolder(path: folder)
        } catch  where error.code == "data.in_use" {
            return nil
        }
    }

    private func missing() -> PushError {
        PushError("storage.not_found", "no server data in \(folder)", hint: "name the data folder with --data or --config")
    }

    @discardableResult
    private func ask(_ what: String, _ name: String, _ more: JSONObject = [:]) async throws(PushError) -> JSON {
        let body = JSON.object(JSONObject([("file", .string(name))] + more.members.map { ($0.key, $0.value) }))
        return try await ManagementClient.with(.folder(folder)) { client throws(PushError) in
            try await client.post(ManagementClient.path(what), body: body, timeout: Self.timeout)
        }
    }

    /// Calls `work` with the name of a temporary file in the data folder, and deletes that file afterwards.
    private func withName(_ work: (String) async throws(PushError) -> Void) async throws(PushError) {
        removeLeftovers()
        let name = "backup-\(SystemRandom().uuid()).sqlite"
        defer { for ending in ["", "-wal", "-shm", "-journal"] { unlink("\(folder)/\(name)\(ending)") } }
        try await work(name)
    }

    /// Deletes temporary copies of earlier commands. Recent ones stay, because another command may be using them.
    private func removeLeftovers() {
        let latest = Date().addingTimeInterval(-Double(Self.timeout.components.seconds))
        for name in DataFolder.leftovers(in: folder) where name.hasPrefix("backup-") {
            let changed = (try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)"))?[.modificationDate] as? Date
            if let changed, changed < latest { unlink("\(folder)/\(name)") }
        }
    }

    // MARK: - Files

    /// Copies to a temporary file first, and renames it once all of it is on disk.
    private static func copy(_ source: String, to path: String, overwrites: Bool) throws(PushError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw failure(source) }
        defer { close(input) }
        let partial = "\(path).\(getpid()).part"
        let output = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw failure(path) }
        defer {
            close(output)
            unlink(partial)
        }
        var piece = [UInt8](repeating: 0, count: pieceSize)
        while case let count = read(input, &piece, pieceSize), count != 0 {
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(source) }
            var start = 0
            while start < count {
                let written = piece[start..<count].withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure(path) }
                start += written
            }
        }
        guard fsync(output) == 0 else { throw failure(path) }
        // Unlike rename, link fails if the file has been created meanwhile.
        if overwrites {
            guard rename(partial, path) == 0 else { throw failure(path) }
        } else if link(partial, path) != 0 {
            throw errno == EEXIST ? exists(path) : failure(path)
        }
        let slash = path.lastIndex(of: "/")
        let parent = open(slash.map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
    }

    private static func exists(_ path: String) -> PushError {
        PushError("storage.backup_exists", "the file \(path) already exists", hint: "name another, or pass --force to replace it")
    }

    private static func failure(_ path: String) -> PushError {
        PushError(
            "backup.failed", "\(path) cannot be used: \(String(cString: strerror(errno)))",
            hint: "check the folder, its permissions and the free disk space")
    }
}
