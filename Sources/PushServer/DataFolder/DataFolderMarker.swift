import Glibc
package import PushModel
package import Storage

/// The file in a data folder that records whether a server has used the folder, the identity of its database, and the path of a key file
/// outside the folder. Without it a lost database would look like a new folder, and an outside key file would look lost if the settings do
/// not name it. `OpenMark` records beside it whether the database was closed.
package struct DataFolderMarker {
    static let name = "identity.json"
    /// More than the longest path needs in JSON.
    private static let limit = 1 << 16

    /// The content of the file.
    package struct Record: Sendable, Equatable {
        package var database = DatabaseMark()
        /// The absolute path of the key file; nil if it is in the folder or not known.
        var keyFile: String?
        /// Whether the file exists and cannot be understood. What it recorded is lost.
        package var isDamaged = false
    }

    /// Describes what a damaged marker file no longer records.
    package static func damage(of folder: String) -> String {
        "\(name) of the data folder \(folder) is damaged: it no longer records which database belongs to the folder, and the path of a key "
            + "file outside of it, if there was one"
    }

    /// Path of the data folder.
    let folder: String

    package init(folder: String) {
        self.folder = folder
    }

    private var path: String { "\(folder)/\(Self.name)" }

    var isMissing: Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// Paths of the files that only a server leaves in the folder, except for this one. A key file is not enough: it may have been put
    /// there for a new server.
    var signsOfUse: [String] {
        [DataFolder.lockName, OpenMark.name, DataFolder.databaseName].map { "\(folder)/\($0)" }.filter {
            faccessat(AT_FDCWD, $0, F_OK, AT_SYMLINK_NOFOLLOW) == 0
        }
    }

    /// Reads the record, and whether the database was closed. If the file was lost, or an older version has used the folder, the other
    /// files of a server show that it was used.
    ///
    /// Throws `data.unusable` if the file cannot be read.
    package func read() throws(PushError) -> Record {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        let number = errno
        let mark = OpenMark(folder: folder)
        let unclosed = mark.exists ? mark.path : nil
        guard file >= 0 else {
            guard number == ENOENT else { throw DataFolder.unusable(folder, number, file: path) }
            let signs = signsOfUse
            return Record(database: DatabaseMark(isUsed: !signs.isEmpty, unclosed: unclosed, signs: signs))
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw DataFolder.unusable(folder, errno, file: path) }
        // The file is written atomically, so a damaged one still proves that the folder was used.
        guard let json = try? JSON(parsing: Array(bytes.prefix(count))), let isUsed = json["used"]?.bool,
            case let identity = json["database"]?.string.flatMap({ DatabaseIdentity(text: $0) }),
            identity != nil || json["database"] == .null, json["key"] == nil || json["key"]?.string != nil
        else {
            return Record(database: DatabaseMark(isUsed: true, unclosed: unclosed), isDamaged: true)
        }
        return Record(
            database: DatabaseMark(identity: identity, isUsed: isUsed, unclosed: unclosed), keyFile: json["key"]?.string)
    }

    /// Writes the record and returns when it is on the disk. Throws `data.unusable`; in that case the file is unchanged.
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
