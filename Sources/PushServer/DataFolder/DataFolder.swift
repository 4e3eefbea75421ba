import FoundationEssentials
import Glibc
package import PushModel
import Storage

/// The folder that contains all of a server's data. Locked, so that only one server uses it.
package final class DataFolder: Sendable {
    let path: String
    private let lock: Int32

    /// Creates the folder if it does not exist. Throws `data.unusable` and `data.in_use`.
    package init(path: String) throws(PushError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.unusable(path, errno) }
        try Self.markIfNew(path)
        let file = "\(path)/\(Self.lockName)"
        // Change the owner only of a file created here: an existing name could be a link by the folder's owner.
        let made = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 { FileOwner.give(made, toOwnerOf: path) }
        lock = made >= 0 ? made : open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.unusable(path, errno, file: file) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(lock)
            guard number == EWOULDBLOCK else { throw Self.unusable(path, number, file: file) }
            throw Self.inUse(path)
        }
        for name in Self.leftovers(in: path) { unlink("\(path)/\(name)") }
    }

    /// Marks a folder that no server has used, even if a key file was put there. Before the lock exists, because a lock without a mark
    /// shows that the folder was used: a process that is killed in between must not leave such a folder.
    private static func markIfNew(_ path: String) throws(PushError) {
        let marker = DataFolderMarker(folder: path)
        guard marker.isMissing, marker.signsOfUse.isEmpty else { return }
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw unusable(path, errno) }
        defer { close(directory) }
        // Another process may be marking the folder, and use it before this one writes its mark.
        guard flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw inUse(path) }
        guard marker.isMissing, marker.signsOfUse.isEmpty else { return }
        try marker.write(DataFolderMarker.Record())
    }

    deinit {
        release()
        close(lock)
    }

    /// Whether a server or a command uses a folder. False if that cannot be determined.
    package static func isInUse(_ path: String) -> Bool {
        let file = open("\(path)/\(lockName)", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Releases the lock. Closing the file is not enough while a child process has inherited it.
    func release() { flock(lock, LOCK_UN) }

    package var database: String { file(Self.databaseName) }

    package static let databaseName = "pushhost.sqlite"
    static let lockName = "lock"

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Temporary files left in a data folder by backups and restores that were killed.
    package static func leftovers(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { name in
            name.hasPrefix("\(databaseName).restoring") || isPassing(name)
        }
    }

    /// Whether the name is that of a temporary file of this program. Other files, such as `backup-1.sqlite`, belong to the operator.
    private static func isPassing(_ name: String) -> Bool {
        guard let match = name.wholeMatch(of: /backup-([0-9A-Fa-f-]{36})\.sqlite(-wal|-shm|-journal)?/) else { return false }
        return UUID(uuidString: String(match.1)) != nil
    }

    private static func inUse(_ path: String) -> PushError {
        PushError("data.in_use", "another server uses the data folder \(path)", hint: "stop it, or use another folder with --data")
    }

    /// - Parameter file: the file in the folder that cannot be used; nil for the folder itself.
    static func unusable(_ path: String, _ number: Int32, file: String? = nil) -> PushError {
        let why = "\(file.map { "\($0): " } ?? "")\(String(cString: strerror(number)))"
        return PushError(
            "data.unusable", "the data folder \(path) cannot be used: \(why)",
            hint: file != nil && [EACCES, EPERM].contains(number)
                ? "run this as the owner of the folder, or change the file's owner; pushhost doctor checks all files"
                : "use a writable folder with free disk space with --data")
    }
}
