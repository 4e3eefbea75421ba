/// The header of a SQLite file: the first 100 bytes of its first page.
struct DatabaseHeader: Equatable {
    static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)
    private static let pageSizes = 512...65_536

    let pageSize: Int
    /// Whether the database uses a write-ahead log. Backups do not.
    let usesLog: Bool
    /// Number of pages; nil if the program that wrote the file did not record it.
    let pageCount: Int?
    let identity: DatabaseIdentity?
    let applicationID: Int64

    /// Returns nil if the bytes are not a valid header.
    init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(Self.size))
        guard bytes.count == Self.size, bytes.starts(with: Self.magic) else { return nil }
        func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        guard Self.isPageSize(pageSize) else { return nil }
        usesLog = bytes[18] == 2
        // The page count is valid only if it was written together with the last change.
        let count = Int(number(28))
        pageCount = count > 0 && number(24) == number(92) ? count : nil
        identity = DatabaseIdentity(number: Int64(Int32(bitPattern: number(60))))
        applicationID = Int64(number(68))
    }

    static func isPageSize(_ size: Int) -> Bool { pageSizes.contains(size) && size & (size - 1) == 0 }
}
