import PushModel

/// The outcome of the last push to each registration of a hub. A row holds a block of 1,024 registration rows with one byte each. With
/// one row per registration, the first push to a million of them would write a million rows.
///
/// Bytes of unused registration rows are meaningless. A new registration clears the byte of its row.
struct PostgreSQLLastOutcomes {
    let hub: Int64
    let database: PostgreSQLConnection

    private static let blockBits: UInt32 = 10

    /// Sets the codes of rows. The blocks are locked before they are read.
    func set(_ codes: [UInt32: UInt8]) throws {
        if codes.isEmpty { return }
        try change(codes, createsBlocks: true)
    }

    /// Clears the outcomes of rows.
    func clear(_ rows: [UInt32]) throws {
        if rows.isEmpty { return }
        try change(Dictionary(rows.map { ($0, 0) }) { $1 }, createsBlocks: false)
    }

    private func change(_ codes: [UInt32: UInt8], createsBlocks: Bool) throws {
        let changed = Dictionary(grouping: codes) { $0.key >> Self.blockBits }
        var blocks: [UInt32: [UInt8]] = [:]
        try database.each(
            "SELECT block, content FROM last_outcome_block WHERE hub = $1 AND block = ANY($2) ORDER BY block FOR UPDATE", hub,
            PostgreSQLArray(changed.keys.sorted())
        ) { blocks[UInt32(clamping: $0.integer(0))] = $0.bytes(1) }
        var stored: [(number: UInt32, content: [UInt8])] = []
        for (number, codes) in changed.sorted(by: { $0.key < $1.key }) {
            guard blocks[number] != nil || createsBlocks else { continue }
            let before = blocks[number] ?? []
            var block = before
            for (row, code) in codes {
                let offset = Int(row & (1 << Self.blockBits - 1))
                if block.count <= offset {
                    if code == 0 { continue }
                    block.append(contentsOf: repeatElement(0, count: offset + 1 - block.count))
                }
                block[offset] = code
            }
            if block != before { stored.append((number, block)) }
        }
        if stored.isEmpty { return }
        try database.run(
            """
            INSERT INTO last_outcome_block (hub, block, content) SELECT $1, * FROM unnest($2, $3)
            ON CONFLICT (hub, block) DO UPDATE SET content = excluded.content
            """, hub, PostgreSQLArray(stored.map(\.number)), PostgreSQLArray(stored.map(\.content)))
    }

    /// The stored outcomes by row. Unknown codes are left out, so that their registrations are still loaded.
    func outcome() throws -> (UInt32) -> OutcomeName? {
        var blocks: [UInt32: [UInt8]] = [:]
        try database.each("SELECT block, content FROM last_outcome_block WHERE hub = $1", hub) {
            blocks[UInt32(clamping: $0.integer(0))] = $0.bytes(1)
        }
        return { [blocks] row in
            let offset = Int(row & (1 << Self.blockBits - 1))
            guard let block = blocks[row >> Self.blockBits], offset < block.count else { return nil }
            return try? OutcomeName(storedCode: block[offset])
        }
    }
}
