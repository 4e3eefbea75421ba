import Glibc
import PushModel
import Storage

/// The file in a data folder that exists while a server has the database open, and that a killed server leaves behind. As long as it
/// exists, the log of the database must exist too: SQLite removes the log only when it closes the database.
///
/// A file of its own, because removing it needs no free disk space.
struct OpenMark {
    static let name = "database-open"
    private static let content = """
        A server has the database open, or was killed. Changes are in pushhost.sqlite-wal that are not in pushhost.sqlite yet.
        The server removes this file when it stops.

        """

    /// Path of the data folder.
    let folder: String

    var path: String { "\(folder)/\(Self.name)" }

    var exists: Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }

    /// Creates the file and returns when it is on the disk, together with the names of the other files in the folder. Throws
    /// `data.unusable`.
    func write() throws(PushError) {
        let file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DataFolder.unusable(folder, errno, file: path) }
        FileOwner.give(file, toOwnerOf: folder)
        // Only the existence of the file counts.
        var content = Self.content
        _ = content.withUTF8 { pwrite(file, $0.baseAddress, $0.count, 0) }
        fsync(file)
        close(file)
        guard flushFolder() else { throw DataFolder.unusable(folder, errno, file: path) }
    }

    /// Removes the file and returns when that is on the disk.
    ///
    /// - Returns: whether the file does not exist anymore.
    @discardableResult
    func remove() -> Bool {
        guard unlink(path) == 0 else { return errno == ENOENT }
        return flushFolder()
    }

    private func flushFolder() -> Bool {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }
}
