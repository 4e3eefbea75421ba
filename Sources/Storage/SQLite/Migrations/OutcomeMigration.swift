import GRDB
import PushModel

/// Converts outcomes from the older format: one row per device, and one per registration with a last outcome.
enum OutcomeMigration {
    static func move(in database: Database) throws {
        try moveDevices(in: database)
        try moveLastOutcomes(in: database)
    }

    // MARK: - Devices

    private struct Position: Equatable {
        var hub: Int64
        var sequence: Int64
        var ordinal: Int64
    }

    private static func moveDevices(in database: Database) throws {
        var batch = OutcomeBatch()
        var first = Position(hub: 0, sequence: 0, ordinal: 0)
        func finish() throws {
            if !batch.isEmpty {
                try SQLiteOutcomeTable(hub: first.hub, database: database)
                    .insert(OutcomeRows(batch), from: Int(first.ordinal), of: try key(of: first))
            }
            batch = OutcomeBatch()
        }
        try database.each(
            """
            SELECT registration, platform, handle_platform, handle, template, outcome, reason, explanation, push_id, size, is_removed,
                installation, hub, sequence, ordinal
            FROM device_outcome ORDER BY hub, sequence, ordinal
            """
        ) { row in
            let position = Position(hub: row.integer(12), sequence: row.integer(13), ordinal: row.integer(14))
            var next = first
            next.ordinal += Int64(batch.count)
            if batch.isEmpty || next != position || batch.count == OutcomeRows.maximumDevices {
                try finish()
                first = position
            }
            do {
                batch.append(try device(row))
            } catch is UnreadableValue {
                try finish()
                try storeUnreadable(at: position, in: database)
            }
        }
        try finish()
    }

    private static func key(of position: Position) throws -> NotificationKey {
        try NotificationKey(hub: position.hub, sequence: position.sequence)
    }

    private static func device(_ row: SQLiteRow) throws -> DeviceOutcome {
        let (outcome, reason) = (try OutcomeName(stored: row.text(5)), row.text(6))
        return DeviceOutcome(
            device: OutcomeDevice(
                registrationID: try row.optional(0) { try RegistrationID(stored: row.text($0)) },
                installationID: row.optional(11, row.text), platform: try Platform(stored: row.text(1)),
                handle: try DeviceHandle(platform: Platform(stored: row.text(2)), stored: row.text(3)),
                templateName: row.optional(4, row.text)), outcome: outcome, reason: reason,
            cause: OutcomeCause(sentence: row.text(7), of: outcome, reason: reason), pushID: row.optional(8, row.text),
            size: Int(row.integer(9)), isRegistrationRemoved: row.bool(10))
    }

    /// Stores an unreadable device as an empty batch, so that it is still reported as unreadable and its number is not reused.
    private static func storeUnreadable(at position: Position, in database: Database) throws {
        try database.run(
            "INSERT INTO outcome_batch (notification, first, count, content) VALUES (?, ?, 1, x'')", try key(of: position).stored,
            position.ordinal)
    }

    // MARK: - Last outcomes

    private static func moveLastOutcomes(in database: Database) throws {
        let hubs = try database.all("SELECT DISTINCT hub FROM last_outcome") { $0.integer(0) }
        for hub in hubs {
            var outcomes: [(rowNumber: UInt32, code: UInt8)] = []
            try database.each("SELECT place, outcome FROM last_outcome WHERE hub = ? ORDER BY place", hub) { row in
                guard let rowNumber = UInt32(exactly: row.integer(0)), let outcome = OutcomeName(rawValue: row.text(1)) else { return }
                outcomes.append((rowNumber, outcome.storedCode))
            }
            try LastOutcomes.set(outcomes, hub: hub, in: database)
        }
    }
}
