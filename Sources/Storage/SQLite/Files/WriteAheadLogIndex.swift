import Glibc
import PushModel

/// The header of a log's index, the file `-shm`. SQLite keeps it in memory that all connections share, so a killed process leaves it as
/// it was. SQLite updates it after a commit has reached the log, so the log never has fewer frames.
///
/// After a power failure the file may have any earlier content, because SQLite never syncs it.
struct WriteAheadLogIndex: Equatable {
    /// The size of each part of the index that SQLite maps into memory.
    static let regionSize: Int32 = 32_768
    private static let version: UInt32 = 3_007_000
    /// The size of each of the two copies of the header, and of the part that its checksum covers.
    private static let (copySize, checkedSize) = (48, 40)
    /// Bytes up to the number of checkpointed frames, and that number.
    static let size = 100

    /// Number of frames in the log that belong to committed transactions.
    let frameCount: Int
    /// Number of those frames that a checkpoint has copied to the database.
    let checkpointedCount: Int
    /// The salts of the log. Zero if the index was made for an empty log.
    let salts: [UInt8]
    let pageSize: Int

    /// Whether SQLite itself has restarted the log, after a checkpoint had copied all of it to the database.
    var isRestarted: Bool { frameCount == 0 && salts.contains { $0 != 0 } }
    /// Whether every frame is in the database as well.
    var isCheckpointed: Bool { checkpointedCount >= frameCount }

    /// - Parameter path: an index that no process has open.
    /// - Returns: nil if there is no file or if it has no valid header.
    static func read(_ path: String) throws(PushError) -> WriteAheadLogIndex? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw SQLiteFile.failure("read", path) }
            return nil
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { throw SQLiteFile.failure("read", path) }
        return WriteAheadLogIndex(Array(bytes.prefix(count)))
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size else { return nil }
        // SQLite writes the second copy first.
        guard let start = [Self.copySize, 0].first(where: { Self.isValid(bytes, at: $0) }) else { return nil }
        frameCount = Int(Self.number(bytes, start + 16))
        salts = Array(bytes[start + 32..<start + 40])
        checkpointedCount = Int(Self.number(bytes, 2 * Self.copySize))
        // 1 stands for the only size that has more than 16 bits.
        let size = bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: start + 14, as: UInt16.self)) }
        pageSize = size == 1 ? 65_536 : size
    }

    private static func isValid(_ bytes: [UInt8], at start: Int) -> Bool {
        var sum = WriteAheadLog.Checksum(isBigEndian: UInt32(1).bigEndian == 1)
        sum.add(bytes, start..<start + checkedSize)
        return number(bytes, start) == version && bytes[start + 12] != 0
            && sum.values == (number(bytes, start + checkedSize), number(bytes, start + checkedSize + 4))
    }

    /// A number in the byte order of this machine, as in the whole index.
    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
}
