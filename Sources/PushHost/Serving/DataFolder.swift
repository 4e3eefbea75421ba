import FoundationEssentials
import Glibc
import PushCore
import Storage

/// The folder that holds everything a server keeps. One server at a time uses it.
final class DataFolder: Sendable {
    let path: String
    private let lock: Int32

    /// Makes the folder where there is none. Throws `data.unusable` and `data.in_use`.
    init(path: String) throws(PushError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.unusable(path, errno) }
        let file = "\(path)/\(Self.lockName)"
        // Only what is made here is given away: the owner of the folder could have put a link under the name.
        let made = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 { FileOwner.give(made, toOwnerOf: path) }
        lock = made >= 0 ? made : open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.unusable(path, errno, file: file) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(lock)
            guard number == EWOULDBLOCK else { throw Self.unusable(path, number, file: file) }
            throw PushError(
                "data.in_use", "another server uses the data folder \(path)", hint: "end it, or name another folder with --data")
        }
        for name in Self.leftovers(in: path) { unlink("\(path)/\(name)") }
        // A folder that had no lock is new, also with a key file that was put there for it. The lock must not make it look used.
        let mark = FolderMark(folder: path)
        if made >= 0, mark.isMissing, access(database, F_OK) != 0 { try mark.write(FolderMark.Record()) }
    }

    deinit {
        release()
        close(lock)
    }

    /// Lets another server use the folder. Closing the file would not do for as long as a child has it, too, which is about to begin.
    func release() { flock(lock, LOCK_UN) }

    var database: String { file(Self.databaseName) }

    static let databaseName = "pushhost.sqlite"
    static let lockName = "lock"

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// What backups and restores that were killed have left in a data folder.
    static func leftovers(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { name in
            name.hasPrefix("\(databaseName).restoring") || isPassing(name)
        }
    }

    /// Whether this program has made a file for a moment. What anybody else puts there, also under a name such as
    /// `backup-1.sqlite`, is not for it to remove.
    private static func isPassing(_ name: String) -> Bool {
        guard let match = name.wholeMatch(of: /backup-([0-9A-Fa-f-]{36})\.sqlite(-wal|-shm|-journal)?/) else { return false }
        return UUID(uuidString: String(match.1)) != nil
    }

    /// - Parameter file: of the folder, which cannot be used; nil for the folder itself.
    static func unusable(_ path: String, _ number: Int32, file: String? = nil) -> PushError {
        let why = "\(file.map { "\($0): " } ?? "")\(String(cString: strerror(number)))"
        return PushError(
            "data.unusable", "the data folder \(path) cannot be used: \(why)",
            hint: file != nil && [EACCES, EPERM].contains(number)
                ? "run this as the owner of the folder, or give the file to him; pushhost doctor looks at all of them"
                : "name a folder that you may write to with --data, with room on its disk")
    }
}
