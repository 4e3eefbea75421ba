import GRDB
import PushModel

/// The held removals of a hub in a database.
struct SQLiteHeldRemovalTable {
    let hub: Int64
    let database: Database

    static let schema = """
        CREATE TABLE held_removal (
            number INTEGER PRIMARY KEY AUTOINCREMENT, hub INTEGER NOT NULL, time INTEGER NOT NULL, valid_before INTEGER NOT NULL,
            notification TEXT NOT NULL, platform TEXT NOT NULL, handle TEXT NOT NULL, reason TEXT NOT NULL,
            UNIQUE (hub, platform, handle)
        ) STRICT;
        CREATE INDEX held_removal_by_hub ON held_removal (hub, number);
        """

    func insert(_ removals: [HeldRemoval]) throws {
        for removal in removals {
            try database.run(
                """
                INSERT INTO held_removal (hub, time, valid_before, notification, platform, handle, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (hub, platform, handle) DO UPDATE SET valid_before = max(valid_before, excluded.valid_before)
                """, hub, removal.time.milliseconds, removal.validBefore.milliseconds, removal.notificationID,
                removal.handle.platform.rawValue, removal.handle.storedText, removal.reason)
        }
    }

    /// Leaves out unreadable rows.
    func removals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) throws -> [HeldRemoval] {
        try database.all(
            """
            \(Self.selection) WHERE hub = ?1 AND number < ?2 AND (?3 IS NULL OR notification = ?3) AND (?4 IS NULL OR reason = ?4)
            ORDER BY number DESC LIMIT ?5
            """, hub, number ?? .max, filter.notificationID, filter.reason, limit
        ) { try? HeldRemoval($0) }.compactMap(\.self)
    }

    /// Passes unreadable rows to a reader. Held removals themselves are not loaded.
    func read(into reader: inout some StoredHubReader) throws {
        try database.each("\(Self.selection) WHERE hub = ?", hub) { row in
            try reader.add("the held removal \(row.integer(0)) of hub \(hub)", of: .heldRemovals) { _ in _ = try HeldRemoval(row) }
        }
    }

    private static let selection = "SELECT \(HeldRemoval.columns) FROM held_removal"

    /// - Returns: numbers of the rows that were unchanged and have been deleted.
    func delete(_ removals: [HeldRemoval]) throws -> Set<Int64> {
        var deleted: Set<Int64> = []
        for removal in removals {
            let before = database.totalChangesCount
            try database.run(
                "DELETE FROM held_removal WHERE number = ? AND hub = ? AND valid_before = ?", removal.number, hub,
                removal.validBefore.milliseconds)
            if database.totalChangesCount > before { deleted.insert(removal.number) }
        }
        return deleted
    }

    func delete(of handles: [DeviceHandle]) throws {
        for handle in handles {
            try database.run(
                "DELETE FROM held_removal WHERE hub = ? AND platform = ? AND handle = ?", hub, handle.platform.rawValue,
                handle.storedText)
        }
    }
}
