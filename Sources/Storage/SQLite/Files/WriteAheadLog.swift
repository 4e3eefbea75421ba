import Glibc
import PushModel

/// The write-ahead log of a database, read the way SQLite reads it on opening. SQLite silently stops at the first frame that it cannot
/// use; this detects which transactions would be dropped.
struct WriteAheadLog {
    /// The reason why SQLite would drop committed transactions.
    enum Flaw: Equatable {
        /// The header is not that of a log.
        case unreadable
        /// A frame is damaged and is followed by transactions that had reached the disk.
        case damaged(frame: Int, of: Int)
    }

    static let headerSize = 32
    static let frameHeaderSize = 24
    private static let frameBatchSize = 64

    let exists: Bool
    /// Size in bytes; 0 if there is no log.
    let size: Int
    private(set) var flaw: Flaw?
    /// The salts that distinguish the log from earlier ones in the same file.
    private(set) var salts: [UInt8] = []
    /// Number of frames that the file has room for, whatever they contain.
    private(set) var wholeFrameCount = 0
    /// Number of frames that SQLite would apply.
    private(set) var frameCount = 0
    private(set) var pageSize = 0
    /// Pages of the transactions that SQLite would apply.
    private(set) var pages: Set<UInt32> = []
    /// Number of pages in the database after the last of them.
    private(set) var pageCount = 0
    /// The database header after the last of them, if a transaction changed it.
    private(set) var header: DatabaseHeader?

    /// Whether there is more than a header. A server that is killed before its first change leaves only a header.
    var hasFrames: Bool { size > Self.headerSize }
    /// Whether SQLite would apply any transaction.
    var hasTransactions: Bool { pageCount > 0 }

    /// - Parameter path: a log that no process has open. It need not exist.
    init(reading path: String) throws(PushError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw SQLiteFile.failure("read", path) }
            (exists, size) = (false, 0)
            return
        }
        defer { close(file) }
        exists = true
        size = Int(lseek(file, 0, SEEK_END))
        guard hasFrames else { return }
        let bytes = try Self.read(file, from: 0, count: Self.headerSize, path)
        guard let header = Header(bytes) else {
            flaw = .unreadable
            return
        }
        (pageSize, salts) = (header.pageSize, header.salts)
        try readFrames(of: file, header, path)
    }

    private mutating func readFrames(of file: Int32, _ header: Header, _ path: String) throws(PushError) {
        let frameSize = Self.frameHeaderSize + header.pageSize
        let count = (size - Self.headerSize) / frameSize
        wholeFrameCount = count
        var checksum = header.checksum
        var transaction: (pages: [UInt32], header: DatabaseHeader?) = ([], nil)
        /// The first frame that SQLite cannot use.
        var end: Int?
        var isCommitBehindEnd = false
        for first in stride(from: 0, to: count, by: Self.frameBatchSize) {
            let some = min(Self.frameBatchSize, count - first)
            let bytes = try Self.read(file, from: Self.headerSize + first * frameSize, count: some * frameSize, path)
            for index in 0..<some {
                let frame = bytes[index * frameSize..<(index + 1) * frameSize]
                let start = frame.startIndex
                // Each frame header repeats the salts of the log. Frames of an earlier checkpoint cycle have others.
                let isOfLog = frame[start + 8..<start + 16].elementsEqual(header.salts)
                let (page, commit) = (Self.number(bytes, start), Self.number(bytes, start + 4))
                if end == nil {
                    var sum = checksum
                    sum.add(bytes, start..<start + 8)
                    sum.add(bytes, start + Self.frameHeaderSize..<frame.endIndex)
                    if isOfLog, page != 0, sum == Checksum(bytes, at: start + 16, isBigEndian: header.checksum.isBigEndian) {
                        checksum = sum
                        transaction.pages.append(page)
                        if page == 1 { transaction.header = DatabaseHeader(frame.dropFirst(Self.frameHeaderSize)) }
                        guard commit != 0 else { continue }
                        pages.formUnion(transaction.pages)
                        frameCount = first + index + 1
                        pageCount = Int(commit)
                        self.header = transaction.header ?? self.header
                        transaction = ([], nil)
                        continue
                    }
                    end = first + index
                }
                // A power failure can damage only the last transaction, because each is on disk before the next is written.
                guard isOfLog, let end else { continue }
                if isCommitBehindEnd {
                    flaw = .damaged(frame: end + 1, of: count)
                    return
                }
                isCommitBehindEnd = commit != 0
            }
        }
    }

    private static func read(_ file: Int32, from start: Int, count: Int, _ path: String) throws(PushError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress?.advanced(by: done), count - done, off_t(start + done)) }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw SQLiteFile.failure("read", path) }
            done += got
        }
        return bytes
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    // MARK: - Format

    /// The header of a log.
    private struct Header {
        private static let version: UInt32 = 3_007_000
        /// The lowest bit gives the byte order of checksums.
        private static let magic: UInt32 = 0x377F_0682

        let pageSize: Int
        let salts: [UInt8]
        let checksum: Checksum

        init?(_ bytes: [UInt8]) {
            let magic = number(bytes, 0)
            guard magic & ~1 == Self.magic, number(bytes, 4) == Self.version else { return nil }
            pageSize = Int(number(bytes, 8))
            guard DatabaseHeader.isPageSize(pageSize) else { return nil }
            salts = Array(bytes[16..<24])
            var sum = Checksum(isBigEndian: magic & 1 == 1)
            sum.add(bytes, 0..<24)
            guard sum == Checksum(bytes, at: 24, isBigEndian: sum.isBigEndian) else { return nil }
            checksum = sum
        }
    }

    /// The running checksum of a log, and of its index.
    struct Checksum: Equatable {
        let isBigEndian: Bool
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        var values: (UInt32, UInt32) { (first, second) }

        /// A stored checksum, which is always big-endian.
        init(_ bytes: [UInt8], at offset: Int, isBigEndian: Bool) {
            self.isBigEndian = isBigEndian
            (first, second) = (number(bytes, offset), number(bytes, offset + 4))
        }

        /// - Parameter range: its length must be a multiple of eight bytes.
        mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
            var (one, two) = (first, second)
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                    let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    one &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ two
                    two &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ one
                }
            }
            (first, second) = (one, two)
        }
    }
}
