import GRDB
import PushModel

// Outcomes per device: a row for each step of a notification's progress.
extension SQLiteHubStore {
    /// Maximum number of devices per row. A list page reads one or two rows, and deleting rows in steps lets other changes in between.
    static let maximumDevicesInRow = 8192

    func devices(
        ofNotification sequence: Int64, from start: Int, limit: Int
    ) async throws(PushError) -> [DeviceOutcome] {
        try await database.read { [hub] database in
            let key = NotificationKey(hub: hub, upTo: sequence)
            var found: [DeviceOutcome] = []
            while found.count < limit, let (first, batch) = try Self.batch(of: key, at: start + found.count, in: database) {
                found += batch.dropFirst(start + found.count - first).prefix(limit - found.count)
            }
            return found
        }
    }

    /// Number of batches per read, so that a large notification does not block other reads.
    private static let batchesPerRead = 16

    func outcomes(
        ofNotification sequence: Int64, matching probe: OutcomeProbe?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome] {
        var found: [RecordedOutcome] = []
        try await eachBatch(ofNotification: sequence, where: { probe?.mayMatch($0) != false }) { batch in
            found += batch.matching(probe).prefix(limit - found.count)
            return found.count < limit
        }
        return found
    }

    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally {
        var tally = OutcomeTally()
        try await eachBatch(ofNotification: sequence) { batch in
            tally.add(batch)
            return true
        }
        return tally
    }

    /// Calls `body` with the batches that satisfy `isWanted`, in order, until it returns false.
    private func eachBatch(
        ofNotification sequence: Int64, where isWanted: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
        _ body: (OutcomeBatch) -> Bool
    ) async throws(PushError) {
        var next: Int64 = 0
        while true {
            let part = try await database.read { [hub, next] database in
                let key = NotificationKey(hub: hub, upTo: sequence)
                return try database.all(
                    """
                    SELECT first, content FROM outcome_batch WHERE notification = ?1 AND first >= ?2 ORDER BY first LIMIT ?3
                    """, key.stored, next, Self.batchesPerRead
                ) { row -> (first: Int64, batch: OutcomeBatch?) in
                    let (first, content) = (row.integer(0), row.bytes(1))
                    guard isWanted(content) else { return (first, nil) }
                    return (first, try reading("the devices from \(first) on of \(key.name)") { try OutcomeBatch(stored: content) })
                }
            }
            for (_, batch) in part {
                if let batch, !body(batch) { return }
            }
            guard part.count == Self.batchesPerRead, let last = part.last?.first else { return }
            next = last + 1
        }
    }

    /// The batch that contains a device, and the ordinal of its first device; nil if there is no such device.
    private static func batch(
        of key: NotificationKey, at ordinal: Int, in database: Database
    ) throws -> (first: Int, batch: OutcomeBatch)? {
        let found = try database.first(
            """
            SELECT first, count, content FROM outcome_batch WHERE notification = ?1 AND first BETWEEN 0 AND ?2 ORDER BY first DESC LIMIT 1
            """, key.stored, ordinal
        ) { row -> (first: Int, batch: OutcomeBatch)? in
            let (first, count) = (Int(row.integer(0)), Int(row.integer(1)))
            guard ordinal - first < count else { return nil }
            let batch = try reading("the devices from \(first) on of \(key.name)") {
                let batch = try OutcomeBatch(stored: row.bytes(2))
                guard batch.count == count else { throw UnreadableValue(reason: "it has \(batch.count) of \(count) devices") }
                return batch
            }
            return (first, batch)
        }
        return found ?? nil
    }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await database.read { [hub] database in
            var found: [RemovedDevice] = []
            var position = position ?? RemovedDevice.Position(sequence: .max, ordinal: .max)
            while found.count < limit, let batch = try Self.deadBatch(of: hub, before: position, in: database) {
                found += batch.devices(before: position).prefix(limit - found.count)
                position = batch.position
            }
            return found
        }
    }

    /// The last batch that starts before a position.
    private static func deadBatch(
        of hub: Int64, before position: RemovedDevice.Position, in database: Database
    ) throws -> DeadBatch? {
        try database.first(
            """
            SELECT dead_batch.notification, first, ordinals, content, id, coalesce(ended_at, started_at, enqueued_at)
            FROM dead_batch JOIN notification ON notification.key = dead_batch.notification
            WHERE dead_batch.notification > ?1 AND (dead_batch.notification, first) < (?2, ?3)
            ORDER BY dead_batch.notification DESC, first DESC LIMIT 1
            """, NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: position.sequence).stored, position.ordinal
        ) { row in
            let key = NotificationKey(stored: row.integer(0))
            return try reading("the removed devices from \(row.integer(1)) on of \(key.name)") {
                try DeadBatch(
                    position: RemovedDevice.Position(sequence: key.sequence, ordinal: row.integer(1)), ordinals: row.bytes(2),
                    devices: OutcomeBatch(stored: row.bytes(3)), notificationID: row.text(4), time: row.time(5))
            }
        }
    }

    // MARK: - Storing

    /// Encodes devices as rows, before the write transaction begins.
    static func rows(for devices: OutcomeBatch) -> [OutcomeRows] {
        devices.parts(of: maximumDevicesInRow).map { OutcomeRows($0) }
    }

    static func append(_ rows: [OutcomeRows], to key: NotificationKey, in database: Database) throws {
        guard !rows.isEmpty else { return }
        let end = try database.first(
            "SELECT first + count FROM outcome_batch WHERE notification = ? ORDER BY first DESC LIMIT 1", key.stored
        ) { Int($0.integer(0)) }
        var first = end ?? 0
        for row in rows {
            try row.insert(from: first, of: key, in: database)
            first += row.count
        }
    }

    /// Removes some devices of an ended notification, few enough that other changes need not wait long. Returns whether there may be more.
    func removeDevices(of key: NotificationKey) async throws(PushError) -> Bool {
        let step = 8
        return try await database.write { database in
            for table in ["outcome_batch", "dead_batch"] {
                let before = database.totalChangesCount
                try database.run(
                    """
                    DELETE FROM \(table) WHERE notification = ?1
                        AND first IN (SELECT first FROM \(table) WHERE notification = ?1 ORDER BY first LIMIT ?2)
                    """, key.stored, step)
                if database.totalChangesCount - before == step { return true }
            }
            return false
        }
    }
}

/// The stored form of a batch: all devices, and again those whose registrations were removed, so that these can be found without
/// reading all.
struct OutcomeRows: Sendable {
    let count: Int
    /// The encoded batch.
    let content: [UInt8]
    private let dead: (ordinals: [Int], content: [UInt8])?

    init(_ devices: OutcomeBatch) {
        count = devices.count
        content = devices.stored
        let ordinals = devices.removed
        dead = ordinals.isEmpty ? nil : (ordinals, OutcomeBatch(ordinals.lazy.map { devices[$0] }).stored)
    }

    /// - Parameter first: ordinal of the first device within the notification.
    func insert(from first: Int, of key: NotificationKey, in database: Database) throws {
        try database.run(
            "INSERT INTO outcome_batch (notification, first, count, content) VALUES (?, ?, ?, ?)", key.stored, first, count, content)
        guard let dead else { return }
        var ordinals: [UInt8] = []
        for ordinal in dead.ordinals { ordinals.append(number: UInt64(first + ordinal)) }
        try database.run(
            "INSERT INTO dead_batch (notification, first, ordinals, content) VALUES (?, ?, ?, ?)", key.stored, first + dead.ordinals[0],
            ordinals, dead.content)
    }
}

/// The devices of one batch that were removed because their handles are invalid.
private struct DeadBatch {
    /// Position of the first device.
    let position: RemovedDevice.Position
    private let ordinals: [Int64]
    private let devices: OutcomeBatch
    private let notificationID: String
    private let time: Timestamp

    init(
        position: RemovedDevice.Position, ordinals: [UInt8], devices: OutcomeBatch, notificationID: String, time: Timestamp
    ) throws {
        self.position = position
        self.ordinals = try ordinals.withUnsafeBytes { bytes in
            var cursor = ByteCursor(bytes)
            let ordinals = devices.indices.map { _ in Int64(clamping: cursor.number()) }
            guard cursor.isAtEnd, !cursor.isBeyond else {
                throw UnreadableValue(reason: "its ordinals do not match \(devices.count) devices")
            }
            return ordinals
        }
        self.devices = devices
        self.notificationID = notificationID
        self.time = time
    }

    /// Last device first.
    func devices(before end: RemovedDevice.Position) -> some Sequence<RemovedDevice> {
        devices.indices.reversed().lazy.filter { (position.sequence, ordinals[$0]) < (end.sequence, end.ordinal) }.map { place in
            RemovedDevice(
                position: RemovedDevice.Position(sequence: position.sequence, ordinal: ordinals[place]), notificationID: notificationID,
                time: time, device: devices[place])
        }
    }
}
