import GRDB
import PushModel

// Devices removed because their handles are invalid.
extension SQLiteHubStore: PrunedStore {
    static func insertPrunedDevice(_ device: PrunedDevice, _ content: String, hub: Int64, in database: Database) throws {
        try database.run(
            """
            INSERT INTO pruned (hub, time, is_restored, id, notification, platform, handle, reason, content)
            VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?)
            """, hub, device.time.milliseconds, device.id, device.notificationID, device.handle.platform.rawValue,
            device.handle.storedText, device.reason, content)
    }

    /// Restores pruned devices. If the removal of a device may have been reported, its return is recorded, to be reported too.
    static func restorePrunedDevices(_ numbers: [Int64], at moment: Timestamp?, hub: Int64, in database: Database) throws {
        guard !numbers.isEmpty else { return }
        let offered = try telling(of: hub, in: database).offered
        for number in numbers {
            if number <= offered {
                try database.run(
                    """
                    INSERT INTO pruned (hub, time, is_restored, id, notification, platform, handle, reason, content)
                    SELECT hub, coalesce(?3, time), 1, id, notification, platform, handle, reason, content FROM pruned
                    WHERE number = ?1 AND hub = ?2
                    """, number, hub, moment?.milliseconds)
            }
            try database.run("DELETE FROM pruned WHERE number = ? AND hub = ?", number, hub)
        }
    }

    func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await database.read { [hub] database in
            try database.all(
                """
                SELECT \(Self.prunedColumns) FROM pruned
                WHERE hub = ?1 AND number < ?2 AND is_restored = 0 AND (?3 IS NULL OR id = ?3) AND (?4 IS NULL OR notification = ?4)
                    AND (?5 IS NULL OR reason = ?5) AND time >= ?6
                ORDER BY number DESC LIMIT ?7
                """, hub, number ?? .max, filter.id, filter.notificationID, filter.reason, filter.since?.milliseconds ?? .min, limit,
                read: Self.prunedDevice)
        }
    }

    func forgetPruned(before moment: Timestamp, limit: Int, keepsUnreported: Bool) async throws(PushError) -> Int {
        try await database.write { [hub] database in
            let told = keepsUnreported ? try Self.telling(of: hub, in: database).acknowledged : .max
            let before = database.totalChangesCount
            try database.run(
                """
                DELETE FROM pruned WHERE number IN
                    (SELECT number FROM pruned WHERE hub = ? AND time < ? AND number <= ? ORDER BY time LIMIT ?)
                """, hub, moment.milliseconds, told, limit)
            return database.totalChangesCount - before
        }
    }

    // MARK: - Reporting

    func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] {
        let (found, offered) = try await database.read { [hub] database in
            let telling = try Self.telling(of: hub, in: database)
            let found = try database.all(
                "SELECT \(Self.prunedColumns) FROM pruned WHERE hub = ? AND number > ? ORDER BY number LIMIT ?", hub,
                telling.acknowledged, limit, read: Self.prunedDevice)
            return (found, telling.offered)
        }
        guard let last = found.last?.number, last > offered else { return found }
        try await database.write { [hub] database in
            try database.run(
                """
                INSERT INTO pruned_telling (hub, offered, acknowledged) VALUES (?1, ?2, 0)
                ON CONFLICT (hub) DO UPDATE SET offered = max(offered, ?2)
                """, hub, last)
        }
        return found
    }

    func countUnreportedPruned() async throws(PushError) -> Int {
        try await database.read { [hub] database in
            let acknowledged = try Self.telling(of: hub, in: database).acknowledged
            return try database.first("SELECT count(*) FROM pruned WHERE hub = ? AND number > ?", hub, acknowledged) {
                Int($0.integer(0))
            } ?? 0
        }
    }

    func acknowledgePruned(upTo number: Int64) async throws(PushError) {
        try await database.write { [hub] database in try Self.acknowledge(number, hub: hub, in: database) }
    }

    func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try await database.write { [hub] database in
            let acknowledged = try Self.telling(of: hub, in: database).acknowledged
            let last = try database.first(
                "SELECT number FROM pruned WHERE hub = ? AND number > ? ORDER BY number DESC LIMIT 1 OFFSET ?", hub, acknowledged, most
            ) { $0.integer(0) }
            guard let last else { return 0 }
            let count = try database.first(
                "SELECT count(*) FROM pruned WHERE hub = ? AND number > ? AND number <= ?", hub, acknowledged, last
            ) { Int($0.integer(0)) }
            try Self.acknowledge(last, hub: hub, in: database)
            return count ?? 0
        }
    }

    private static func acknowledge(_ number: Int64, hub: Int64, in database: Database) throws {
        try database.run(
            """
            INSERT INTO pruned_telling (hub, offered, acknowledged) VALUES (?1, ?2, ?2)
            ON CONFLICT (hub) DO UPDATE SET offered = max(offered, ?2), acknowledged = max(acknowledged, ?2)
            """, hub, number)
        // Reported returns are no longer needed.
        try database.run("DELETE FROM pruned WHERE hub = ? AND number <= ? AND is_restored = 1", hub, number)
    }

    private static func telling(of hub: Int64, in database: Database) throws -> (offered: Int64, acknowledged: Int64) {
        try database.first("SELECT offered, acknowledged FROM pruned_telling WHERE hub = ?", hub) {
            (offered: $0.integer(0), acknowledged: $0.integer(1))
        } ?? (0, 0)
    }

    // MARK: - Rows

    private static let prunedColumns = "number, time, is_restored, notification, platform, handle, reason, content"

    private static func prunedDevice(_ row: SQLRow) throws -> PrunedDevice {
        try reading("the pruned device \(row.integer(0))") {
            PrunedDevice(
                number: row.integer(0), isRestored: row.integer(2) != 0, try PrunedDevice.Subject(stored: row.json(7)),
                handle: try DeviceHandle(platform: Platform(stored: row.text(4)), stored: row.text(5)), reason: row.text(6),
                notificationID: row.text(3), time: row.time(1))
        }
    }
}
