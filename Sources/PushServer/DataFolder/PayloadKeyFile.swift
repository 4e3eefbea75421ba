package import Crypto
import FoundationEssentials
import Glibc
package import PushModel
import PushRuntime
package import Storage

/// The key file of a server. Its key seals secure payloads; a key derived from it seals the secrets in the database. It is not part of
/// backups, so a backup alone reveals neither.
package struct PayloadKeyFile {
    static let name = "payload.key"
    private static let length = 32

    package let path: String
    /// Path of the data folder.
    private let folder: String
    /// Whether the path comes from the setting `key.file`.
    private let isNamed: Bool

    /// - Parameter path: the path in the settings; nil for the file in the data folder.
    package init(folder: String, named path: String? = nil) {
        self.folder = folder
        self.path = path ?? "\(folder)/\(Self.name)"
        isNamed = path != nil
    }

    package init(_ settings: ServerSettings) { self.init(folder: settings.data, named: settings.keyFile) }

    /// The key file of the server that runs in a data folder, which may have other settings than a command. Throws `data.unusable` if the
    /// record cannot be read.
    package static func recorded(in folder: String) throws(PushError) -> PayloadKeyFile {
        PayloadKeyFile(folder: folder, named: try DataFolderMarker(folder: folder).read().keyFile)
    }

    /// Whether the file does not exist. A dangling symbolic link does not count as missing: its target may not be mounted.
    package var isMissing: Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT }

    /// The absolute path if the file is outside the data folder, else nil.
    var outsidePath: String? {
        guard isNamed, let own = Self.absolute("\(folder)/\(Self.name)"), let create = Self.absolute(path), create != own else {
            return nil
        }
        return create
    }

    /// Resolves symbolic links of the parent folder but not of the file, whose target may not be mounted. Nil for a relative path whose
    /// folder does not exist.
    private static func absolute(_ path: String) -> String? {
        let (parent, name) = parts(of: path)
        guard let real = realpath(parent, nil) else { return path.hasPrefix("/") ? path : nil }
        defer { free(real) }
        let folder = String(cString: real)
        return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    private static func parts(of path: String) -> (parent: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("./", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }

    /// The recorded path of the key file if it differs from this one: these are not the settings of the server.
    ///
    /// Throws `data.unusable` if the record cannot be read.
    package func differingRecord() throws(PushError) -> String? {
        guard let recorded = try DataFolderMarker(folder: folder).read().keyFile, recorded != outsidePath else { return nil }
        return recorded
    }

    /// Reads the key; creates the file if the folder has no database yet. Throws `data.key_missing` if the folder has a database, and
    /// `data.payload_key` if the file is not a key. Never changes an existing file.
    package func key() throws(PushError) -> SymmetricKey {
        if isMissing {
            try checkMove()
            let database = "\(folder)/\(DataFolder.databaseName)"
            // A first start that was interrupted leaves an empty file. A lost database was detected before.
            guard access(database, F_OK) != 0 || FileIdentity.isEmpty(database) else {
                if let recorded = try differingRecord() { throw elsewhere(recorded, Self.renewal) }
                throw missing(database)
            }
            _ = try create(Self.new())
        }
        return try read()
    }

    /// Reads the key, or generates one for a missing file, to be saved with `store`. For commands that replace lost secrets.
    package func keyOrGenerated() throws(PushError) -> (key: SymmetricKey, isNew: Bool) {
        guard isMissing else { return (try read(), false) }
        try checkMove()
        return (Self.new(), true)
    }

    /// Checks that the key is really lost, and not only unnamed by the settings. A key that opens the folder's database or the backup
    /// proves that the record is outdated.
    ///
    /// - Parameter backup: the backup to restore.
    /// - Throws: `data.key_missing`, and the errors of reading the backup and the key file.
    package func checkRecord(opening backup: String? = nil) async throws(PushError) {
        let record = try DataFolderMarker(folder: folder).read()
        let recorded = try differingRecord()
        guard record.isDamaged && !isNamed || recorded != nil else { return }
        if !isMissing {
            let seal = Self.seal(of: try read())
            if let backup, let sealing = try await SQLiteStorage.sealing(of: backup), sealing.isSealed(with: seal) { return }
            if await opensFolder(seal) { return }
        }
        guard let recorded else { throw unknown(DataFolderMarker.damage(of: folder)) }
        throw elsewhere(recorded, "repeat the command with --key-is-lost")
    }

    /// Whether the folder's database is sealed with this key. `false` if the database is lost or damaged.
    private func opensFolder(_ seal: SecretSeal) async -> Bool {
        let database = "\(folder)/\(DataFolder.databaseName)"
        do throws(PushError) {
            _ = try await SQLiteStorage.examine(database, try DataFolderMarker(folder: folder).read().database)
            return try await SQLiteStorage.sealing(of: database)?.isSealed(with: seal) == true
        } catch {
            return false
        }
    }

    private static func new() -> SymmetricKey { SymmetricKey(size: .bits256) }

    package static func seal(of key: SymmetricKey) -> SecretSeal {
        SecretSeal(payloadKey: key.withUnsafeBytes { Array($0) }, random: SystemRandom())
    }

    /// Creates the file. Throws `data.payload_key` if it exists by now, because secrets sealed with this key could not be opened later.
    package func store(_ key: SymmetricKey) throws(PushError) {
        guard try create(key) else {
            throw PushError(
                "data.payload_key", "the key file \(path) was just created by another program; nothing was changed",
                hint: "run the command again")
        }
    }

    /// Creates the file. Returns `false` and changes nothing if it exists.
    private func create(_ key: SymmetricKey) throws(PushError) -> Bool {
        // Write a temporary file and link it into place, so that the key is never half written.
        let (parent, file) = Self.parts(of: path)
        let partial = "\(parent).\(file)"
        unlink(partial)
        let output = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw unusable("made", errno) }
        FileOwner.give(output, toOwnerOf: parent)
        let isWritten = key.withUnsafeBytes { write(output, $0.baseAddress, $0.count) } == Self.length && fsync(output) == 0
        let number = errno
        close(output)
        defer { unlink(partial) }
        let isPlaced = isWritten && link(partial, path) == 0
        guard isPlaced || isWritten && errno == EEXIST else { throw unusable("made", isWritten ? errno : number) }
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return isPlaced }
        fsync(directory)
        close(directory)
        return isPlaced
    }

    /// Reads the key. Throws `data.payload_key` if the file is not a key, and `data.unusable` if it cannot be read.
    package func read() throws(PushError) -> SymmetricKey {
        // In the data folder another user could have planted a symbolic link. For a path in the settings links are common: mounted secrets
        // often are links.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (isNamed ? 0 : O_NOFOLLOW))
        guard file >= 0 else { throw unusable("read", errno) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.length + 1)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count == Self.length else {
            throw PushError(
                "data.payload_key",
                "\(path) is not a key: it has \(count > Self.length ? "more than" : "\(max(count, 0)) bytes, not") 32 bytes",
                hint: "restore the right file; if it is lost, remove this one and run pushhost hub renew-secrets")
        }
        return SymmetricKey(data: bytes.prefix(Self.length))
    }

    /// Whether group or others have any permission on the file.
    package var isAccessibleToOthers: Bool {
        // Check the target of a symbolic link, whose own permissions are meaningless.
        let file = realpath(path, nil)
        defer { free(file) }
        let name = file.map { String(cString: $0) } ?? path
        let permissions = (try? FileManager.default.attributesOfItem(atPath: name))?[.posixPermissions]
        return ((permissions as? UInt).map { Int(clamping: $0) } ?? permissions as? Int ?? 0) & 0o077 != 0
    }

    // MARK: - Errors

    /// Throws if the data folder still contains a key and `key.file` names a missing file: the key must be moved, not replaced.
    private func checkMove() throws(PushError) {
        let own = "\(folder)/\(Self.name)"
        guard isNamed, access(own, F_OK) == 0 else { return }
        throw PushError(
            "data.key_missing", "key.file: \(path) does not exist, and the key of this data folder is still \(own); nothing was changed",
            hint: "move it there: mv \(own) \(path)")
    }

    /// - Parameter remedy: what to do if the key is lost.
    private func elsewhere(_ recorded: String, _ remedy: String) -> PushError {
        PushError(
            "data.key_missing", "\(finding(recorded)); nothing was changed", hint: "\(Self.naming); if the key is lost, \(remedy)")
    }

    /// - Parameter damage: why the folder does not record where the key file is.
    private func unknown(_ damage: String) -> PushError {
        PushError(
            "data.key_missing", "\(damage); nothing was changed",
            hint: "\(Self.naming); if the key was in the data folder and is lost, repeat the command with --key-is-lost")
    }

    private func missing(_ database: String) -> PushError {
        PushError(
            "data.key_missing", "the key file \(path) is missing, and \(database) was used with one; nothing was changed",
            hint: "restore the file, or set key.file; if it is lost, run pushhost hub renew-secrets to continue with new access keys")
    }

    private func unusable(_ what: String, _ number: Int32) -> PushError {
        guard isNamed else { return DataFolder.unusable(folder, number, file: path) }
        return PushError(
            "data.payload_key", "key.file: \(path) cannot be \(what == "made" ? "created" : "read"): \(String(cString: strerror(number)))",
            hint: "use a file that the server can \(what == "made" ? "create" : "read"), in an existing folder")
    }

    // MARK: - Findings

    /// The warning that `count` secure payloads cannot be decrypted.
    package func warning(_ count: Int) -> String {
        "\(Self.payloads(count)) cannot be decrypted: \(path) is not the key that encrypted \(count == 1 ? "it" : "them")"
    }

    /// The warning that it is unknown whether `count` secure payloads can be decrypted.
    package func doubt(_ count: Int) -> String {
        "unknown whether \(path) decrypts \(Self.payloads(count)): an older version did not record which key encrypted "
            + (count == 1 ? "it" : "them")
    }

    /// The finding that the recorded key file is not the one in the settings.
    package func finding(_ recorded: String) -> String {
        "the key file of the data folder \(folder) is \(recorded), and \(isNamed ? "key.file is \(path)" : "key.file is not set")"
    }

    /// The finding that the data folder has this key, but neither a database nor a record of one: the database was lost, or the key was put
    /// there for a new server. Nil if that is not the case, or if the key is elsewhere.
    package func finding(_ database: DatabaseFinding, _ mark: DatabaseMark) -> String? {
        guard database == .absent, mark.identity == nil, outsidePath == nil, !isMissing else { return nil }
        return "the data folder \(folder) has a payload key, \(path), but no database"
    }

    package static let lostDatabase = "if it had one, restore a backup with pushhost hub restore FILE"

    package static let naming = "use the settings of the server with --config, or set key.file"

    package static let renewal = "run pushhost hub renew-secrets --key-is-lost to continue with new access keys"

    package static let trial = "start the server: it tries to decrypt them and logs how many it cannot"

    package static func payloads(_ count: Int) -> String { "\(count) secure payload\(count == 1 ? "" : "s")" }

    package static let remedy = "restore the old \(name) and restart the server, or send the payloads again"

    package static let residue = "older pages of the database may still contain plaintext secrets"

    package static let erasing = "free as much disk space as the database takes, and restart the server"
}
