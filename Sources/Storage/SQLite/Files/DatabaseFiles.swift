import Glibc
import PushModel

/// Examines the files of a database before SQLite opens them. SQLite silently turns an empty file into a new database, deletes a log next
/// to it, and drops a log that it cannot read.
struct DatabaseFiles {
    let path: String

    private var log: String { "\(path)-wal" }
    private var index: String { "\(path)-shm" }

    /// Requires that this process has no connection to the database: closing a file descriptor releases the process's locks on the file.
    ///
    /// Throws `storage.damaged` for a database in use that is missing, empty, truncated, does not match its log, or whose log lacks
    /// changes, `storage.foreign_file` for a file of another program, and `storage.unavailable`.
    func examine(_ mark: DatabaseMark) throws(PushError) -> DatabaseFinding {
        let index = try WriteAheadLogIndex.read(self.index)
        let log = try WriteAheadLog(reading: self.log)
        guard let (bytes, size) = try start() else {
            guard mark.hadDatabase || log.hasFrames else { return .absent }
            throw damaged("is missing", log, mark)
        }
        guard size > 0 else {
            guard mark.hadDatabase || log.hasFrames else { return .absent }
            throw damaged("is empty", log, mark)
        }
        guard let header = DatabaseHeader(bytes) else {
            guard mark.isUsed else { throw SQLiteFile.foreign(path, "it is not a SQLite database") }
            throw StorageError.damaged(path, "has \(size) bytes that are not a SQLite database")
        }
        if let flaw = flaw(of: log, index, header, mark) {
            throw StorageError.damaged(
                path, flaw,
                hint: "restore a backup with pushhost hub restore FILE, or put the matching files back; with neither, "
                    + "move \(([self.log] + (mark.unclosed.map { [$0] } ?? [])).joined(separator: " and ")) away: its content is lost, "
                    + "and the server starts with the rest")
        }
        let isExpected = isLogExpected(header, mark)
        if let loss = LogLoss(of: log, at: self.log, index, isExpected: isExpected), isExpected || loss.isMixed { throw error(loss, mark) }
        if let pages = missingPages(size, header, log) {
            throw StorageError.damaged(path, "is truncated: it has \(size) bytes of \(pages * header.pageSize)")
        }
        let last = log.header ?? header
        if mark.isUsed, last.applicationID == 0 { throw damaged("has no tables", log) }
        return .present(last.identity)
    }

    /// Why changes seem to be missing from the log, as the rest of a sentence about the database; nil if nothing suggests that.
    ///
    /// Not certain: without a mark, a power failure during a start may leave an index that is older than the log. With one, `examine` has
    /// compared the two, but without an index a log that was truncated looks like one that ends there.
    func suspectedLoss(_ mark: DatabaseMark) throws(PushError) -> String? {
        guard SQLiteFile.exists(path) else { return nil }
        let log = try WriteAheadLog(reading: self.log)
        guard mark.unclosed != nil else {
            return LogLoss(of: log, at: self.log, try WriteAheadLogIndex.read(self.index), isExpected: false)?.finding
        }
        guard log.hasFrames, !SQLiteFile.exists(index) else { return nil }
        return "was not closed, and the index of its write-ahead log, \(index), is missing, so that a truncated log is not detected"
    }

    /// Whether the folder records that this database was not closed. A backup or another database that was put in its place was.
    private func isLogExpected(_ header: DatabaseHeader, _ mark: DatabaseMark) -> Bool {
        guard mark.unclosed != nil, header.usesLog else { return false }
        return header.identity == mark.identity || header.identity == nil || mark.identity == nil
    }

    private func error(_ loss: LogLoss, _ mark: DatabaseMark) -> PushError {
        let files = (loss.isMixed ? [log, index] : []) + (mark.unclosed.map { [$0] } ?? [])
        return StorageError.damaged(
            path, "\(loss.finding): acknowledged changes would be lost; nothing was changed",
            hint: "put the log back, or restore a backup with pushhost hub restore FILE; to continue without the missing changes, or if "
                + "another program, such as sqlite3, has moved the log into the database, remove \(files.joined(separator: " "))")
    }

    /// What is wrong with the log, by itself or next to this database.
    private func flaw(
        of log: WriteAheadLog, _ index: WriteAheadLogIndex?, _ header: DatabaseHeader, _ mark: DatabaseMark
    ) -> String? {
        switch log.flaw {
        // A process was killed while it overwrote frames of a transaction that had been rolled back.
        case .damaged where index?.salts == log.salts && index?.frameCount == log.frameCount: break
        case .unreadable:
            return "has a log, \(self.log), of \(log.size) bytes that are not a valid log; opening it would drop them"
        case .damaged(let frame, let count):
            return "has a damaged log, \(self.log): from page \(frame) of \(count) on, opening it would drop what was stored"
        case nil: break
        }
        guard log.hasTransactions else { return nil }
        let isOther =
            log.pageSize != header.pageSize || !header.usesLog
            || log.header.map { $0.identity != header.identity && !isFirst($0, header, mark) } ?? isForeign(header, mark)
        return isOther ? "has a log of another database next to it, \(self.log); opening it would mix the two" : nil
    }

    /// Whether the log assigns the database its first identity.
    private func isFirst(_ last: DatabaseHeader, _ header: DatabaseHeader, _ mark: DatabaseMark) -> Bool {
        header.identity == nil && (mark.identity == nil || mark.identity == last.identity)
    }

    /// Whether the folder's own database was replaced by another one while its log remained.
    private func isForeign(_ header: DatabaseHeader, _ mark: DatabaseMark) -> Bool {
        guard let own = mark.identity else { return false }
        return header.identity != own && (mark.isUsed || header.identity != nil)
    }

    /// The expected number of pages if some are neither in the file nor in its log; otherwise nil.
    private func missingPages(_ size: Int, _ header: DatabaseHeader, _ log: WriteAheadLog) -> Int? {
        // A rollback journal is applied first and may contain the missing pages.
        guard let count = log.hasTransactions ? log.pageCount : header.pageCount, access("\(path)-journal", F_OK) != 0 else { return nil }
        // SQLite never uses the page that contains its lock bytes.
        let unused = 0x4000_0000 / header.pageSize + 1
        let there = size / header.pageSize
        guard there < count else { return nil }
        let isMissing = (there + 1...count).contains { $0 != unused && !log.pages.contains(UInt32(clamping: $0)) }
        return isMissing ? count : nil
    }

    /// - Parameter mark: the record of a folder whose database is gone; nil if there still is one.
    private func damaged(_ finding: String, _ log: WriteAheadLog, _ mark: DatabaseMark? = nil) -> PushError {
        let finding = "\(finding), although a server has used its folder"
        guard !log.hasFrames else {
            return StorageError.damaged(path, "\(finding); its write-ahead log, \(self.log), has \(log.size) bytes")
        }
        guard let signs = mark?.signs, !signs.isEmpty else { return StorageError.damaged(path, finding) }
        return StorageError.damaged(
            path, finding,
            hint: "restore a backup with pushhost hub restore FILE; if no server has ever stored anything in the folder, remove "
                + signs.joined(separator: " and "))
    }

    /// The first bytes of the database and its size; nil if there is no file.
    private func start() throws(PushError) -> ([UInt8], size: Int)? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw SQLiteFile.failure("read", path) }
            return nil
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: DatabaseHeader.size)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { throw SQLiteFile.failure("read", path) }
        return (Array(bytes.prefix(count)), Int(lseek(file, 0, SEEK_END)))
    }
}
