import Glibc
import PushCore
import Storage

/// The file of a data folder that records whether a server has used it, and which database is its own. Without it a lost database would
/// look like one that was never made. It also records which key file that is, where it is not the folder's own: without the settings it
/// would look lost.
struct FolderMark {
    static let name = "identity.json"
    /// More than the longest path has when it is written as JSON.
    private static let limit = 1 << 16

    /// What the file records.
    struct Record: Sendable, Equatable {
        var database = DatabaseMark()
        /// The absolute path of the key file; nil for the one of the folder, and where it is not known.
        var keyFile: String?
    }

    /// The data folder.
    let folder: String

    private var path: String { "\(folder)/\(Self.name)" }

    var isMissing: Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// A folder that an older version has used has no such file, but a lock and the key of its secure payloads. A key alone does not say
    /// that there was a server: it may have been put there for a new one.
    ///
    /// Throws `data.unusable` for a file that may not be read.
    func read() throws(PushError) -> Record {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw DataFolder.unusable(folder, errno, file: path) }
            let isLocked = access("\(folder)/\(DataFolder.lockName)", F_OK) == 0
            return Record(database: DatabaseMark(isUsed: isLocked && (try? PayloadKeyFile(folder: folder).read()) != nil))
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw DataFolder.unusable(folder, errno, file: path) }
        // It is written in one step: one that was damaged later says at least that there was one.
        guard let json = try? JSON(parsing: Array(bytes.prefix(count))), let isUsed = json["used"]?.bool else {
            return Record(database: DatabaseMark(isUsed: true))
        }
        let identity = json["database"]?.string.flatMap { DatabaseIdentity(text: $0) }
        return Record(database: DatabaseMark(identity: identity, isUsed: isUsed), keyFile: json["key"]?.string)
    }

    /// Returns when it is on the disk. Throws `data.unusable`; then the file is as it was before.
    func write(_ record: Record) throws(PushError) {
        var members: JSONObject = [
            "database": record.database.identity.map { JSON.string($0.text) } ?? .null, "used": .bool(record.database.isUsed),
        ]
        if let keyFile = record.keyFile { members.append("key", .string(keyFile)) }
        let bytes = JSON.object(members).serialized() + [0x0a]
        let partial = "\(folder)/.\(Self.name)"
        unlink(partial)
        let file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DataFolder.unusable(folder, errno, file: path) }
        FileOwner.give(file, toOwnerOf: folder)
        let isWritten = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count && fsync(file) == 0
        let number = errno
        close(file)
        guard isWritten, rename(partial, path) == 0 else {
            let number = isWritten ? errno : number
            unlink(partial)
            throw DataFolder.unusable(folder, number, file: path)
        }
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw DataFolder.unusable(folder, errno) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw DataFolder.unusable(folder, errno) }
    }
}
