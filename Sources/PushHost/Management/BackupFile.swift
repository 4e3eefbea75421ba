import FoundationEssentials
import Glibc
import PushCore
import Storage

/// Copies of everything that a server keeps: taken and brought back while it runs, through the server itself, and while it does not,
/// with its data folder locked.
struct BackupFile {
    let settings: ServerSettings

    /// The data folder.
    private var folder: String { settings.data }
    private static let pieceSize = 1 << 20
    /// How long the server may take.
    private static let patience = Duration.seconds(6 * 3600)

    /// - Parameters:
    ///   - path: of the file that is to be made.
    ///   - overwrites: whether one that is there already is replaced.
    /// Throws `storage.backup_exists`, `backup.failed`, and what the storage or the server refuses with.
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

    /// Nil for a database that is sealed: its copy stays so, and needs no key. One that an older version wrote has its secrets in clear.
    private func seal(for database: String) async throws(PushError) -> SecretSeal? {
        guard try await SQLiteStorage.sealing(of: database) == nil else { return nil }
        return PayloadKeyFile.seal(of: try PayloadKeyFile(settings).key())
    }

    /// Refuses what a backup must not take the place of: the data themselves, devices, folders, links.
    private func checkTarget(_ path: String) throws(PushError) {
        let slash = path.lastIndex(of: "/")
        try checkPlace(path, Self.real(slash.map { String(path[...$0]) } ?? "."))
        if let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType, kind != .typeRegular {
            throw PushError("backup.failed", "\(path) is there already, and no ordinary file", hint: "name another")
        }
    }

    /// - Parameter place: where the path leads; nil where that is nowhere.
    private func checkPlace(_ path: String, _ place: String?) throws(PushError) {
        guard let place, let own = Self.real(folder), place == own || place.hasPrefix("\(own)/") else { return }
        throw PushError("backup.failed", "\(path) lies in the data folder itself", hint: "name a file elsewhere")
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Throws `storage.not_found`, `storage.foreign_file`, `storage.newer_schema`, `storage.sealed`, `storage.corrupt`,
    /// `data.key_missing`, `backup.failed`.
    ///
    /// - Parameters:
    ///   - renewsSecrets: whether secrets that the key file does not open get new values.
    ///   - isKeyLost: whether to go on without the key file that the folder records and the settings do not name.
    /// - Returns: what was wrong with the database that was there before, where nothing but replacing was left to do with it, and what was
    ///   renewed.
    func restore(_ path: String, renewsSecrets: Bool, isKeyLost: Bool) async throws(PushError) -> (flaw: PushError?, renewed: JSON) {
        guard access(path, R_OK) == 0 else {
            throw PushError(
                "storage.not_found", "the backup \(path) cannot be read: \(String(cString: strerror(errno)))", hint: "name a backup")
        }
        try checkPlace(path, Self.real(path))
        if let lock = try await lockIfFree(makingFolder: true) {
            if !isKeyLost { try await PayloadKeyFile(settings).checkRecord(opening: path) }
            return try await replace(in: lock, from: path, renewsSecrets)
        }
        var renewed = RenewedSecrets().json
        try await withName { name throws(PushError) in
            // By SQLite, which takes in what is in a log beside the file.
            try await SQLiteStorage.copy(path, to: "\(folder)/\(name)")
            do throws(PushError) {
                let answer = try await ask("restore", name, renewsSecrets ? ["renewSecrets": true] : [:])
                if answer.object != nil { renewed = answer }
            } catch {
                // The operator knows it by another name.
                var error = error
                if let place = error.message.firstRange(of: name) {
                    let start = error.message[..<place.lowerBound].lastIndex(of: " ").map { error.message.index(after: $0) }
                    error.message.replaceSubrange((start ?? error.message.startIndex)..<place.upperBound, with: path)
                }
                throw error
            }
        }
        return (nil, renewed)
    }

    /// The entry of it is the first one behind those of the backup.
    private func replace(
        in folder: DataFolder, from path: String, _ renewsSecrets: Bool
    ) async throws(PushError) -> (flaw: PushError?, renewed: JSON) {
        let (file, clock) = (PayloadKeyFile(settings), SystemClock())
        let (key, isNew) = try file.keyOrNew()
        let end = await Self.lastEntry(of: folder)
        let replaced: FolderDatabase.Replacement
        do throws(PushError) {
            replaced = try await FolderDatabase.replace(
                in: folder, from: path, file, seal: PayloadKeyFile.seal(of: key), renewsSecrets ? .renewed(at: clock.now) : .refused
            ) { () throws(PushError) in
                // Before there is a database that is sealed with it.
                if isNew { try file.store(key) }
            }
        } catch {
            guard isNew, error.code == "storage.sealed" else { throw error }
            var error = error
            error.message = "the backup \(path) is sealed, and the key file \(file.path) is missing; nothing was restored"
            throw error
        }
        let audit = AuditLog(trail: replaced.storage.auditTrail, clock: clock)
        await audit.noteRestoration(end)
        await audit.note(replaced.renewed)
        try await replaced.storage.close()
        return (replaced.flaw, replaced.renewed.json)
    }

    /// Nil where it cannot be read. A damaged database is not opened, for that could change it.
    private static func lastEntry(of folder: DataFolder) async -> AuditEntry? {
        guard let database = try? await FolderDatabase.examining(folder), !database.isNew else { return nil }
        return try? await SQLiteAuditFile(path: folder.database).entries(before: nil, limit: 1, AuditFilter()).first
    }

    /// Nil where a server has it.
    private func lockIfFree(makingFolder: Bool) async throws(PushError) -> DataFolder? {
        guard makingFolder || access("\(folder)/lock", F_OK) == 0 || access("\(folder)/\(DataFolder.databaseName)", F_OK) == 0 else {
            throw missing()
        }
        do throws(PushError) {
            // A server that runs can still copy a database whose file has lost its name.
            return try DataFolder(path: folder)
        } catch  where error.code == "data.in_use" {
            return nil
        }
    }

    private func missing() -> PushError {
        PushError("storage.not_found", "there is no server's data in \(folder)", hint: "name its data folder with --data or --config")
    }

    @discardableResult
    private func ask(_ what: String, _ name: String, _ more: JSONObject = [:]) async throws(PushError) -> JSON {
        let body = JSON.object(JSONObject([("file", .string(name))] + more.members.map { ($0.key, $0.value) }))
        return try await ManagementClient.with(.folder(folder)) { client throws(PushError) in
            try await client.post(ManagementClient.path(what), body: body, patience: Self.patience)
        }
    }

    /// Lends a name for a file of the data folder, which is gone afterwards.
    private func withName(_ work: (String) async throws(PushError) -> Void) async throws(PushError) {
        removeLeftovers()
        let name = "backup-\(SystemRandom().uuid()).sqlite"
        defer { for ending in ["", "-wal", "-shm", "-journal"] { unlink("\(folder)/\(name)\(ending)") } }
        try await work(name)
    }

    /// While a server runs, another command may be at work: only what is too old for that goes.
    private func removeLeftovers() {
        let latest = Date().addingTimeInterval(-Double(Self.patience.components.seconds))
        for name in DataFolder.leftovers(in: folder) where name.hasPrefix("backup-") {
            let changed = (try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)"))?[.modificationDate] as? Date
            if let changed, changed < latest { unlink("\(folder)/\(name)") }
        }
    }

    // MARK: - Files

    /// Under another name until all of it is on the disk.
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
        // Unlike a renaming, a link does not overwrite what came in between.
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
        PushError("storage.backup_exists", "there is a file \(path) already", hint: "name another, or say --force")
    }

    private static func failure(_ path: String) -> PushError {
        PushError(
            "backup.failed", "\(path) cannot be used: \(String(cString: strerror(errno)))",
            hint: "look at the folder, its permissions and the room on its disk")
    }
}
