import Crypto
import FoundationEssentials
import Glibc
import PushCore
import Storage

/// The key file of a server. Its key seals secure payloads, and a key derived from it the secrets in the database. It is in no backup: who
/// has a backup has neither the payloads nor the secrets.
struct PayloadKeyFile {
    static let name = "payload.key"
    private static let length = 32

    let path: String
    /// The data folder.
    private let folder: String
    /// Whether the setting `key.file` names it.
    private let isNamed: Bool

    /// - Parameter path: nil for the file of the data folder.
    init(folder: String, named path: String? = nil) {
        self.folder = folder
        self.path = path ?? "\(folder)/\(Self.name)"
        isNamed = path != nil
    }

    init(_ settings: ServerSettings) { self.init(folder: settings.data, named: settings.keyFile) }

    /// A link that leads nowhere is not missing, and cannot be read: what it names may only not be mounted.
    var isMissing: Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT }

    /// Its absolute path, where it is not the file of the data folder.
    var placeOutside: String? {
        guard isNamed, let own = Self.absolute("\(folder)/\(Self.name)"), let place = Self.absolute(path), place != own else { return nil }
        return place
    }

    /// Links of the folders are followed, and not one of the file itself: what that names may not be mounted. Nil for a relative path where
    /// the folder of the file does not exist.
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

    /// The key file that the data folder records, where that is another one: its settings are not those of the server.
    ///
    /// Throws `data.unusable` for a record that may not be read.
    func recordedOtherwise() throws(PushError) -> String? {
        guard let recorded = try FolderMark(folder: folder).read().keyFile, recorded != placeOutside else { return nil }
        return recorded
    }

    /// Makes the file for a folder that has no database yet. Throws `data.key_missing` for one that has, `data.payload_key` for a file that
    /// is no key, and never changes one.
    func key() throws(PushError) -> SymmetricKey {
        if isMissing {
            try checkMove()
            let database = "\(folder)/\(DataFolder.databaseName)"
            guard access(database, F_OK) != 0 else {
                if let recorded = try recordedOtherwise() { throw elsewhere(recorded, Self.renewal) }
                throw missing(database)
            }
            _ = try place(Self.new())
        }
        return try read()
    }

    /// The key, or a new one for a file that is missing, which `store` makes. For those who put new secrets in the place of lost ones.
    func keyOrNew() throws(PushError) -> (key: SymmetricKey, isNew: Bool) {
        guard isMissing else { return (try read(), false) }
        try checkMove()
        return (Self.new(), true)
    }

    /// Refuses to take the key of the data folder for lost because the settings do not name the file that the folder records. A key that
    /// opens the database of the folder, or the backup, shows that the record is outdated.
    ///
    /// - Parameter backup: that is to be restored.
    /// Throws `data.key_missing`, and what the backup and the key file refuse with.
    func checkRecord(opening backup: String? = nil) async throws(PushError) {
        guard let recorded = try recordedOtherwise() else { return }
        if !isMissing {
            let seal = Self.seal(of: try read())
            if let backup, let sealing = try await SQLiteStorage.sealing(of: backup), sealing.isSealed(with: seal) { return }
            if await opensFolder(seal) { return }
        }
        throw elsewhere(recorded, "repeat the command with --key-is-lost")
    }

    /// Whether the database of the folder is sealed with it. One that is lost or damaged is not opened.
    private func opensFolder(_ seal: SecretSeal) async -> Bool {
        let database = "\(folder)/\(DataFolder.databaseName)"
        do throws(PushError) {
            _ = try await SQLiteStorage.examine(database, try FolderMark(folder: folder).read().database)
            return try await SQLiteStorage.sealing(of: database)?.isSealed(with: seal) == true
        } catch {
            return false
        }
    }

    private static func new() -> SymmetricKey { SymmetricKey(size: .bits256) }

    static func seal(of key: SymmetricKey) -> SecretSeal {
        SecretSeal(payloadKey: key.withUnsafeBytes { Array($0) }, random: SystemRandom())
    }

    /// Makes the file. Throws `data.payload_key` where one has come to be there: what is sealed with this key could not be opened.
    func store(_ key: SymmetricKey) throws(PushError) {
        guard try place(key) else {
            throw PushError(
                "data.payload_key", "the key file \(path) was made by another program just now; nothing was changed",
                hint: "run the command again")
        }
    }

    /// Makes the file. Where there is one already, that one stays, and the answer is false.
    private func place(_ key: SymmetricKey) throws(PushError) -> Bool {
        // In its place only when it is whole: a key of which half is on the disk would be lost.
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

    /// Throws `data.payload_key` for a file that is no key, and `data.unusable` for one that cannot be read.
    func read() throws(PushError) -> SymmetricKey {
        // In the data folder a link could be somebody else's work; where the operator names the file, secrets are often mounted as links.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (isNamed ? 0 : O_NOFOLLOW))
        guard file >= 0 else { throw unusable("read", errno) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.length + 1)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count == Self.length else {
            throw PushError(
                "data.payload_key",
                "\(path) holds no key: it has \(count > Self.length ? "more than" : "\(max(count, 0)) bytes, not") 32 bytes",
                hint: "put the right file back; if it is lost, remove this one and run pushhost hub renew-secrets")
        }
        return SymmetricKey(data: bytes.prefix(Self.length))
    }

    /// Whether others than the owner may read it.
    var isOpenToOthers: Bool {
        // Not of a link, whose own permissions say nothing.
        let file = realpath(path, nil)
        defer { free(file) }
        let name = file.map { String(cString: $0) } ?? path
        let permissions = (try? FileManager.default.attributesOfItem(atPath: name))?[.posixPermissions]
        return ((permissions as? UInt).map { Int(clamping: $0) } ?? permissions as? Int ?? 0) & 0o077 != 0
    }

    // MARK: - Errors

    /// A folder whose key lies in it is not to get another key at the place that the settings name.
    private func checkMove() throws(PushError) {
        let own = "\(folder)/\(Self.name)"
        guard isNamed, access(own, F_OK) == 0 else { return }
        throw PushError(
            "data.key_missing", "key.file: there is no file \(path), and the key of this data folder is still \(own); nothing was changed",
            hint: "move it there: mv \(own) \(path)")
    }

    /// - Parameter wayOut: what to do if the key is lost.
    private func elsewhere(_ recorded: String, _ wayOut: String) -> PushError {
        PushError(
            "data.key_missing", "\(finding(recorded)); nothing was changed", hint: "\(Self.naming); if the key is lost, \(wayOut)")
    }

    private func missing(_ database: String) -> PushError {
        PushError(
            "data.key_missing", "the key file \(path) is missing, and \(database) was used with one; nothing was changed",
            hint: "put the file back, or name it with key.file; if it is lost, pushhost hub renew-secrets goes on with new access keys")
    }

    private func unusable(_ what: String, _ number: Int32) -> PushError {
        guard isNamed else { return DataFolder.unusable(folder, number, file: path) }
        return PushError(
            "data.payload_key", "key.file: \(path) cannot be \(what): \(String(cString: strerror(number)))",
            hint: "name a file that the server may \(what == "made" ? "make" : "read"), in a folder that exists")
    }

    // MARK: - Findings

    /// That so many secure payloads do not open.
    func warning(_ count: Int) -> String {
        "\(Self.payloads(count)) cannot be opened: \(path) is not the key that sealed \(count == 1 ? "it" : "them")"
    }

    /// That nobody knows it of so many.
    func doubt(_ count: Int) -> String {
        "whether \(path) opens \(Self.payloads(count)) is not known: an older version did not note which key sealed "
            + (count == 1 ? "it" : "them")
    }

    /// That the key lies where the settings do not say.
    func finding(_ recorded: String) -> String {
        "the key file of the data folder \(folder) is \(recorded), and \(isNamed ? "key.file names \(path)" : "no key.file names it")"
    }

    static let naming = "name the settings of the server with --config, or the file with key.file"

    static let renewal = "pushhost hub renew-secrets --key-is-lost goes on with new access keys"

    static let trial = "start the server: it tries to open them, and its log tells how many it cannot"

    static func payloads(_ count: Int) -> String { "\(count) secure payload\(count == 1 ? "" : "s")" }

    static let remedy = "put the old \(name) back and start the server again, or have them sent again"

    static let residue = "older pages of the database may still hold secrets in clear"

    static let erasing = "make as much room as the database takes, and start the server again"
}
