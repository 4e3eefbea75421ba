import GRDB
import PushModel

/// The removed registrations of a hub in a database.
struct SQLiteTombstoneTable {
    let hub: Int64
    let database: Database

    /// Records a removal with details from the registration's row, if it still exists.
    func record(_ removal: RemovedRegistration) throws {
        let (time, reason) = (removal.tombstone.time.milliseconds, removal.tombstone.reason)
        try database.run(
            """
            INSERT OR REPLACE INTO departure (hub, id, time, reason, detail, platform, handle, expiration, installation)
            SELECT ?1, ?2, ?3, ?4, ?5, coalesce(platform, ?7), handle, expiration, installation
            FROM (SELECT 1) LEFT JOIN registration ON hub = ?1 AND place = ?6
            """, hub, removal.id.text, time, reason.storedText, reason.report?.reason, removal.row, reason.report?.platform?.rawValue)
    }

    /// Forgets the removal of a registration whose id is in use again.
    func remove(_ id: RegistrationID) throws { try database.run("DELETE FROM departure WHERE hub = ? AND id = ?", hub, id.text) }

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) throws -> [DeletedRegistration] {
        func all(_ condition: String, _ key: String) throws -> [DeletedRegistration] {
            try database.all(
                """
                SELECT \(DeletedRegistration.columns) FROM departure
                WHERE hub = ?1 AND handle IS NOT NULL AND \(condition) ORDER BY time DESC, id LIMIT ?3
                """, hub, key, limit, read: DeletedRegistration.init(stored:))
        }
        switch subject {
        case .installation(let id): return try all("installation = ?2", id)
        case .registration(let id): return try all("id = ?2", id.text)
        case .handle(let handle):
            // Handles of different platforms may have the same text.
            return try all("handle = ?2", handle.storedText).filter { $0.handle == handle }
        }
    }

    func forget(before time: Timestamp, limit: Int) throws -> Int {
        let before = database.totalChangesCount
        try database.run(
            """
            DELETE FROM departure WHERE (hub, id) IN
                (SELECT hub, id FROM departure WHERE hub = ? AND time < ? ORDER BY time LIMIT ?)
            """, hub, time.milliseconds, limit)
        return database.totalChangesCount - before
    }

    /// Passes all tombstones to a reader.
    func read(into reader: inout some StoredHubReader) throws {
        try database.each("SELECT id, time, reason, detail, platform FROM departure WHERE hub = ?", hub) { row in
            try reader.add("the departure of \(row.text(0)) from hub \(hub)", of: .tombstones) { reader in
                reader.add(try RegistrationTombstone(stored: row), of: try RegistrationID(stored: row.text(0)))
            }
        }
    }
}
