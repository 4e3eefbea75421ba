import GRDB
import GRDBSQLite
import Glibc
import PushModel

/// The write-ahead log of an open database and its index. Detects that another program has removed, replaced or truncated them: SQLite
/// continues with the files that it has open, without an error.
///
/// SQLite itself never removes them while a process has the database open, and never leaves the log with fewer frames than the index counts:
/// it stops counting frames before it restarts or shortens the log.
struct OpenLog: Sendable {
    /// Maximum number of frames to examine. A log has up to 4000 frames before a checkpoint, more if readers delay that.
    private static let examined = 256

    /// Path of the database.
    private let path: String
    private let database: FileNumber?
    private let log: FileNumber?
    private let index: FileNumber?

    /// - Parameter path: a database that this process has just opened.
    init(of path: String) {
        self.path = path
        database = FileNumber(path)
        (log, index) = (FileNumber("\(path)-wal"), FileNumber("\(path)-shm"))
    }

    /// Throws `storage.unavailable` if the log or its index was removed or replaced: changes go to files without a name.
    func checkNames() throws(PushError) {
        guard log == nil || FileNumber("\(path)-wal") == log else { throw Self.removedLog(path) }
        guard index == nil || FileNumber("\(path)-shm") == index else { throw Self.removedIndex(path) }
    }

    /// Removes what took the place of the log, after the database was closed with all changes. The next connection would copy its older
    /// pages over newer ones. Leaves the log of another database that took the place of this one.
    func removeReplacement() {
        if database != nil, FileNumber(path) == database { unlink("\(path)-wal") }
    }

    /// `storage.damaged` if the log lacks changes because another program has truncated it; nil if it does not, or if that is unknown.
    ///
    /// Reads the files that SQLite has open. Opening and closing the index would release this process's locks on it.
    ///
    /// - Parameter connection: the writing one.
    func loss(in connection: Database) -> PushError? {
        guard let database = Self.file(SQLITE_FCNTL_FILE_POINTER, of: connection),
            let log = Self.file(SQLITE_FCNTL_JOURNAL_POINTER, of: connection)
        else { return nil }
        let finding = Self.finding("\(path)-wal", size: { Self.size(of: log) }, index: { Self.index(of: database) }) { bytes, start in
            log.pointee.pMethods.pointee.xRead(log, bytes.baseAddress, Int32(bytes.count), Int64(start)) == SQLITE_OK
        }
        return finding.map { Self.damaged(path, $0) }
    }

    /// Examines the log of a database that another process has open and has marked as open.
    ///
    /// - Parameter path: a database to which this process has no connection.
    /// Throws `storage.damaged` if the log lacks changes, and `storage.unavailable` if it or its index was removed, or cannot be read.
    static func examine(_ path: String) throws(PushError) {
        let (log, index) = ("\(path)-wal", "\(path)-shm")
        guard SQLiteFile.exists(index) else { throw SQLiteFile.hasLog(path) ? removedIndex(path) : removedLog(path) }
        let file = open(log, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw errno == ENOENT ? removedLog(path) : SQLiteFile.failure("read", log) }
        defer { close(file) }
        let known = try WriteAheadLogIndex.read(index)
        // Another process has opened the database after the log had been removed, and has created both files again.
        if let known, known.frameCount == 0, !known.isRestarted, !SQLiteFile.hasLog(path) { throw removedLog(path) }
        let finding = finding(log, size: { Int(lseek(file, 0, SEEK_END)) }, index: { (try? WriteAheadLogIndex.read(index)) ?? nil }) {
            bytes, start in
            pread(file, bytes.baseAddress, bytes.count, off_t(start)) == bytes.count
        }
        if let finding { throw damaged(path, finding) }
    }

    // MARK: - Frames

    /// What the log lacks, as the rest of a sentence about the database; nil if it lacks nothing, or if that is unknown.
    ///
    /// - Parameters:
    ///   - size: reads the size of the log in bytes; nil if unknown.
    ///   - index: reads the index; nil while SQLite writes it.
    ///   - read: fills the buffer from an offset of the log; returns whether it could.
    private static func finding(
        _ log: String, size: () -> Int?, index: () -> WriteAheadLogIndex?, read: (UnsafeMutableRawBufferPointer, Int) -> Bool
    ) -> String? {
        // A log that a checkpoint has copied completely is not used anymore: the next change restarts it.
        guard let state = index(), state.frameCount > 0, !state.isCheckpointed,
            // The log only grows while the index counts frames. If a process has restarted the log meanwhile, the index has changed.
            let size = size(), let lack = lack(size, state, read), index() == state
        else { return nil }
        return "has lost changes: its write-ahead log, \(log), \(lack)"
    }

    private static func lack(
        _ size: Int, _ state: WriteAheadLogIndex, _ read: (UnsafeMutableRawBufferPointer, Int) -> Bool
    ) -> String? {
        let frameSize = WriteAheadLog.frameHeaderSize + state.pageSize
        let count = max(size - WriteAheadLog.headerSize, 0) / frameSize
        guard count >= state.frameCount else { return "was truncated: it has \(count) of \(state.frameCount) frames" }
        // The header, and the header of each frame, contain the same salts. Later changes have made a truncated log longer again, with zeros
        // in place of the frames that are gone.
        let step = max((state.frameCount + examined - 1) / examined, 1)
        let frames = stride(from: 0, to: state.frameCount, by: step).map { WriteAheadLog.headerSize + $0 * frameSize + 8 }
        let isWhole = ([16] + frames).allSatisfy { start in
            var salts = [UInt8](repeating: 0, count: state.salts.count)
            // A disk error is not a loss.
            return !salts.withUnsafeMutableBytes { read($0, start) } || salts == state.salts
        }
        return isWhole ? nil : "was truncated: it has zeros in place of some of its \(state.frameCount) frames"
    }

    // MARK: - SQLite's files

    private static func file(_ operation: Int32, of connection: Database) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = withUnsafeMutablePointer(to: &file) { sqlite3_file_control(connection.sqliteConnection, "main", operation, $0) }
        // SQLite's files without methods are not open.
        return code == SQLITE_OK && file?.pointee.pMethods != nil ? file : nil
    }

    private static func size(of file: UnsafeMutablePointer<sqlite3_file>) -> Int? {
        var size: sqlite3_int64 = 0
        return file.pointee.pMethods.pointee.xFileSize(file, &size) == SQLITE_OK ? Int(size) : nil
    }

    /// The index in the memory that the connections of this process share.
    private static func index(of database: UnsafeMutablePointer<sqlite3_file>) -> WriteAheadLogIndex? {
        let methods = database.pointee.pMethods.pointee
        // Earlier versions have no shared memory.
        guard methods.iVersion >= 2, let map = methods.xShmMap else { return nil }
        var start: UnsafeMutableRawPointer?
        guard map(database, 0, WriteAheadLogIndex.regionSize, 0, &start) == SQLITE_OK, let start else { return nil }
        return WriteAheadLogIndex(Array(UnsafeRawBufferPointer(start: start, count: WriteAheadLogIndex.size)))
    }

    // MARK: - Errors

    private static func removedLog(_ path: String) -> PushError {
        StorageError.unavailable(
            "the write-ahead log \(path)-wal was removed or replaced: changes are lost if the server is killed",
            hint: "take a backup now with pushhost hub backup, and stop the server, which moves the changes into the database")
    }

    private static func removedIndex(_ path: String) -> PushError {
        StorageError.unavailable(
            "\(path)-shm, the index of the write-ahead log, was removed or replaced: other programs that open the database can damage it",
            hint: "restart the server, and do not open the database with another program until then")
    }

    private static func damaged(_ path: String, _ finding: String) -> PushError {
        StorageError.damaged(
            path, finding,
            hint: "stop the server; if it does not start again, restore a backup with pushhost hub restore FILE")
    }
}

/// Identifies the file at a path by device and inode number.
private struct FileNumber: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Nil if there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}
