import GRDB
import PushModel

/// The outcome of the last push to each registration of a hub. A row holds a block of 1,024 registration rows with one byte each. With
/// one row per registration, the first push to a million of them would write a million rows.
///
/// Bytes of unused registration rows are meaningless. A new registration clears the byte of its row.
struct LastOutcomes {
    static let blockBits: Int64 = 10
    /// Number of key bits for the block number within a hub.
    static let hubBits: Int64 = 32 - blockBits

    /// Blocks by number. Missing bytes at the end are 0.
    private var blocks: [UInt32: [UInt8]] = [:]

    /// Reads all blocks of a hub.
    init(of hub: Int64, in database: Database) throws {
        try database.each(
            "SELECT key, content FROM last_outcome_block WHERE key >= ? AND key < ?", hub << Self.hubBits, (hub + 1) << Self.hubBits
        ) { blocks[UInt32($0.integer(0) - hub << Self.hubBits)] = $0.bytes(1) }
    }

    /// The outcome for a registration row; nil if there is none. An unknown code counts as none, so that the registration is still loaded.
    subscript(rowNumber: UInt32) -> OutcomeName? {
        guard let block = blocks[rowNumber >> Self.blockBits], Self.offset(of: rowNumber) < block.count else { return nil }
        return try? OutcomeName(storedCode: block[Self.offset(of: rowNumber)])
    }

    private static func key(of rowNumber: UInt32, hub: Int64) -> Int64 { hub << hubBits + Int64(rowNumber) >> blockBits }

    private static func offset(of rowNumber: UInt32) -> Int { Int(rowNumber & (1 << UInt32(blockBits) - 1)) }

    // MARK: - Changes

    /// - Parameter outcomes: sorted by row.
    static func set(_ outcomes: [(rowNumber: UInt32, code: UInt8)], hub: Int64, in database: Database) throws {
        var next = 0
        while next < outcomes.count {
            let key = key(of: outcomes[next].rowNumber, hub: hub)
            var block = try content(of: key, in: database)
            while next < outcomes.count, self.key(of: outcomes[next].rowNumber, hub: hub) == key {
                let offset = offset(of: outcomes[next].rowNumber)
                if block.count <= offset { block.append(contentsOf: repeatElement(0, count: offset + 1 - block.count)) }
                block[offset] = outcomes[next].code
                next += 1
            }
            try put(block, at: key, in: database)
        }
    }

    static func clear(_ rowNumber: UInt32, hub: Int64, in database: Database) throws {
        guard try isSet(rowNumber, hub: hub, in: database) else { return }
        let key = key(of: rowNumber, hub: hub)
        var block = try content(of: key, in: database)
        block[offset(of: rowNumber)] = 0
        try put(block, at: key, in: database)
    }

    /// Clears the outcome of a row that a new registration takes over.
    static func clear(_ rowNumber: UInt32, unlessOf id: RegistrationID, hub: Int64, in database: Database) throws {
        guard try isSet(rowNumber, hub: hub, in: database) else { return }
        let stays = try database.first(
            "SELECT 1 FROM registration WHERE hub = ? AND place = ? AND id = ?", hub, rowNumber, id.text
        ) { _ in true }
        if stays == nil { try clear(rowNumber, hub: hub, in: database) }
    }

    private static func isSet(_ rowNumber: UInt32, hub: Int64, in database: Database) throws -> Bool {
        try database.first(
            "SELECT 1 FROM last_outcome_block WHERE key = ? AND substr(content, ?, 1) > x'00'", key(of: rowNumber, hub: hub),
            offset(of: rowNumber) + 1
        ) { _ in true } ?? false
    }

    private static func content(of key: Int64, in database: Database) throws -> [UInt8] {
        try database.first("SELECT content FROM last_outcome_block WHERE key = ?", key) { $0.bytes(0) } ?? []
    }

    private static func put(_ block: [UInt8], at key: Int64, in database: Database) throws {
        try database.run(
            """
            INSERT INTO last_outcome_block (key, content) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET content = excluded.content
            """, key, block)
    }
}
