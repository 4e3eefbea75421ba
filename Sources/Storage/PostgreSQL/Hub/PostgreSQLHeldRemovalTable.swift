import Crypto
import PushModel

/// The held removals of a hub in a database.
struct PostgreSQLHeldRemovalTable {
    let hub: Int64
    let database: PostgreSQLConnection

    func insert(_ removals: [HeldRemoval]) throws {
        for removal in removals {
            let digest = Self.digest(of: removal.handle)
            let changed = try database.run(
                "UPDATE held_removal SET valid_before = greatest(valid_before, $3) WHERE hub = $1 AND digest = $2", hub, digest,
                removal.validBefore.milliseconds)
            if changed > 0 { continue }
            let number = try database.next("held removal", hub: hub).lowerBound
            database.later(
                """
                INSERT INTO held_removal (hub, number, time, valid_before, notification, platform, handle, digest, reason)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                """, hub, number, removal.time.milliseconds, removal.validBefore.milliseconds, removal.notificationID,
                removal.handle.platform.rawValue, removal.handle.storedText, digest, removal.reason)
        }
    }

    private static func digest(of handle: DeviceHandle) -> [UInt8] {
        Array(SHA256.hash(data: Array("\(handle.platform.rawValue)\n\(handle.storedText)".utf8)))
    }

    /// Leaves out unreadable rows.
    func removals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) throws -> [HeldRemoval] {
        try database.all(
            """
            \(Self.selection) WHERE hub = $1 AND number < $2 AND ($3 IS NULL OR notification = $3) AND ($4 IS NULL OR reason = $4)
            ORDER BY number DESC LIMIT $5
            """, hub, number ?? .max, filter.notificationID, filter.reason, limit
        ) { try? HeldRemoval($0) }.compactMap(\.self)
    }

    /// Passes unreadable rows to a reader. Held removals themselves are not loaded.
    func read(into reader: inout some StoredHubReader) throws {
        try database.each("\(Self.selection) WHERE hub = $1", hub) { row in
            try reader.add("the held removal \(row.integer(0)) of hub \(hub)", of: .heldRemovals) { _ in _ = try HeldRemoval(row) }
        }
    }

    private static let selection = "SELECT \(HeldRemoval.columns) FROM held_removal"

    /// - Returns: numbers of the rows that were unchanged and have been deleted.
    func delete(_ removals: [HeldRemoval]) throws -> Set<Int64> {
        let deleted = try database.returning(
            """
            DELETE FROM held_removal USING unnest($2, $3) AS removed (number, valid_before)
            WHERE hub = $1 AND held_removal.number = removed.number AND held_removal.valid_before = removed.valid_before
            RETURNING held_removal.number
            """, hub, PostgreSQLArray(removals.map(\.number)), PostgreSQLArray(removals.map(\.validBefore.milliseconds))
        ) { $0.integer(0) }
        return Set(deleted)
    }

    func delete(of handles: [DeviceHandle]) {
        if handles.isEmpty { return }
        database.later("DELETE FROM held_removal WHERE hub = $1 AND digest = ANY($2)", hub, PostgreSQLArray(handles.map(Self.digest)))
    }
}
