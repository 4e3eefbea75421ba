import PushModel

/// The pruned devices of a hub in a database, and which of them have been reported.
struct PostgreSQLPrunedTable {
    let hub: Int64
    let database: PostgreSQLConnection

    private static let kind = "pruned device"

    // MARK: - Changes

    /// - Parameter contents: the registrations or installations of the devices as JSON.
    func insert(_ devices: [PrunedDevice], _ contents: [String]) throws {
        if devices.isEmpty { return }
        let numbers = try database.next(Self.kind, hub: hub, count: devices.count)
        func column(_ value: (PrunedDevice) -> String) -> PostgreSQLArray<String> { PostgreSQLArray(devices.map(value)) }
        database.later(
            """
            INSERT INTO pruned (hub, number, time, is_restored, id, notification, platform, handle, reason, content)
            SELECT $1, number, time, false, id, notification, platform, handle, reason, content
            FROM unnest($2, $3, $4, $5, $6, $7, $8, $9)
                AS added (number, time, id, notification, platform, handle, reason, content)
            """, hub, PostgreSQLArray(numbers), PostgreSQLArray(devices.map(\.time.milliseconds)), column(\.id), column(\.notificationID),
            column(\.handle.platform.rawValue), column(\.handle.storedText), column(\.reason), PostgreSQLArray(contents))
    }

    /// Restores pruned devices. If the removal of a device may have been reported, its return is recorded, to be reported too.
    func restore(_ numbers: [Int64], at time: Timestamp?) throws {
        guard !numbers.isEmpty else { return }
        let offered = try reported().offered
        for number in numbers {
            if number <= offered {
                let next = try database.next(Self.kind, hub: hub).lowerBound
                database.later(
                    """
                    INSERT INTO pruned (hub, number, time, is_restored, id, notification, platform, handle, reason, content)
                    SELECT hub, $4, coalesce($3, time), true, id, notification, platform, handle, reason, content FROM pruned
                    WHERE number = $1 AND hub = $2
                    """, number, hub, time?.milliseconds, next)
            }
            database.later("DELETE FROM pruned WHERE number = $1 AND hub = $2", number, hub)
        }
    }

    /// - Parameter keepsUnreported: whether devices whose removal has not been reported are exempt.
    func forget(before time: Timestamp, limit: Int, keepsUnreported: Bool) throws -> Int {
        let last = keepsUnreported ? try reported().acknowledged : .max
        return try database.run(
            """
            DELETE FROM pruned WHERE hub = $1 AND number IN
                (SELECT number FROM pruned WHERE hub = $1 AND time < $2 AND number <= $3 ORDER BY time LIMIT $4)
            """, hub, time.milliseconds, last, limit)
    }

    // MARK: - Reporting

    /// Devices whose report has not been acknowledged, and the number of the last one that may have been reported.
    func unreported(limit: Int) throws -> (devices: [PrunedDevice], offered: Int64) {
        let reported = try reported()
        let found = try database.all(
            "SELECT \(PrunedRow.columns) FROM pruned WHERE hub = $1 AND number > $2 ORDER BY number LIMIT $3", hub, reported.acknowledged,
            limit, read: Self.device)
        return (found, reported.offered)
    }

    /// Records that devices up to this number may have been reported.
    func offer(upTo number: Int64) throws {
        try database.run(
            """
            INSERT INTO pruned_telling (hub, offered, acknowledged) VALUES ($1, $2, 0)
            ON CONFLICT (hub) DO UPDATE SET offered = greatest(pruned_telling.offered, excluded.offered)
            """, hub, number)
    }

    func countUnreported() throws -> Int {
        try database.first("SELECT count(*) FROM pruned WHERE hub = $1 AND number > $2", hub, try reported().acknowledged) {
            Int($0.integer(0))
        } ?? 0
    }

    func acknowledge(upTo number: Int64) throws {
        database.later(
            """
            INSERT INTO pruned_telling (hub, offered, acknowledged) VALUES ($1, $2, $2)
            ON CONFLICT (hub) DO UPDATE SET offered = greatest(pruned_telling.offered, excluded.offered),
                acknowledged = greatest(pruned_telling.acknowledged, excluded.acknowledged)
            """, hub, number)
        // Reported returns are no longer needed.
        try database.run("DELETE FROM pruned WHERE hub = $1 AND number <= $2 AND is_restored", hub, number)
    }

    /// Marks the oldest devices as reported if more than `most` are not. Returns their number.
    func dropUnreported(beyond most: Int) throws -> Int {
        let acknowledged = try reported().acknowledged
        let last = try database.first(
            "SELECT number FROM pruned WHERE hub = $1 AND number > $2 ORDER BY number DESC LIMIT 1 OFFSET $3", hub, acknowledged, most
        ) { $0.integer(0) }
        guard let last else { return 0 }
        let count = try database.first(
            "SELECT count(*) FROM pruned WHERE hub = $1 AND number > $2 AND number <= $3", hub, acknowledged, last
        ) { Int($0.integer(0)) }
        try acknowledge(upTo: last)
        return count ?? 0
    }

    /// The numbers of the last device that may have been reported, and of the last whose report was acknowledged.
    private func reported() throws -> (offered: Int64, acknowledged: Int64) {
        try database.first("SELECT offered, acknowledged FROM pruned_telling WHERE hub = $1", hub) {
            (offered: $0.integer(0), acknowledged: $0.integer(1))
        } ?? (0, 0)
    }

    // MARK: - Rows

    func devices(_ filter: PrunedFilter, below number: Int64?, limit: Int) throws -> [PrunedDevice] {
        try database.all(
            """
            SELECT \(PrunedRow.columns) FROM pruned
            WHERE hub = $1 AND number < $2 AND NOT is_restored AND ($3 IS NULL OR id = $3) AND ($4 IS NULL OR notification = $4)
                AND ($5 IS NULL OR reason = $5) AND time >= $6
            ORDER BY number DESC LIMIT $7
            """, hub, number ?? .max, filter.id, filter.notificationID, filter.reason, filter.since?.milliseconds ?? .min, limit,
            read: Self.device)
    }

    private static func device(_ row: PostgreSQLRow) throws -> PrunedDevice { try PrunedRow(row).device }
}
