import GRDB
import PushCore

extension SQLiteHubStore {
    func devices(
        ofNotification sequence: Int64, from start: Int, limit: Int
    ) async throws(PushError) -> [DeviceOutcome] {
        try await database.read { [hub] database in
            try database.all(
                """
                SELECT \(Self.deviceColumns)
                FROM device_outcome WHERE hub = ? AND sequence = ? AND ordinal >= ? ORDER BY ordinal LIMIT ?
                """, hub, sequence, start, limit
            ) { row in
                try reading("the device \(row.integer(11)) of notification \(sequence) of hub \(hub)") { try Self.device(row) }
            }
        }
    }

    func deadDevices(after position: DeadDevice.Position?, limit: Int) async throws(PushError) -> [DeadDevice] {
        let position = position ?? DeadDevice.Position(sequence: .max, ordinal: .max)
        return try await database.read { [hub] database in
            try database.all(
                """
                SELECT \(Self.deviceColumns), device_outcome.sequence, notification.id,
                    coalesce(ended_at, started_at, enqueued_at)
                FROM device_outcome JOIN notification ON notification.key = (device_outcome.hub << \(NotificationKey.sequenceBits)) + sequence
                WHERE device_outcome.hub = ? AND is_removed = 1 AND (device_outcome.sequence, ordinal) < (?, ?)
                ORDER BY device_outcome.sequence DESC, ordinal DESC LIMIT ?
                """, hub, position.sequence, position.ordinal, limit
            ) { row in
                try reading("the device \(row.integer(11)) of notification \(row.integer(13)) of hub \(hub)") {
                    DeadDevice(
                        position: DeadDevice.Position(sequence: row.integer(13), ordinal: row.integer(11)),
                        notificationID: row.text(14), time: row.time(15), device: try Self.device(row))
                }
            }
        }
    }

    private static let deviceColumns = """
        registration, platform, handle_platform, handle, template, outcome, reason, explanation, push_id, size, is_removed, ordinal,
        installation
        """

    private static func device(_ row: SQLRow) throws -> DeviceOutcome {
        DeviceOutcome(
            registrationID: try row.optional(0) { try RegistrationID(stored: row.text($0)) },
            installationID: row.optional(12, row.text),
            platform: try Platform(stored: row.text(1)),
            handle: try DeviceHandle(platform: Platform(stored: row.text(2)), stored: row.text(3)),
            templateName: row.optional(4, row.text), outcome: try OutcomeName(stored: row.text(5)), reason: row.text(6),
            explanation: row.text(7), pushID: row.optional(8, row.text), size: Int(row.integer(9)),
            isRegistrationRemoved: row.bool(10))
    }

    /// Adds devices behind those of the notification that are there, counted from 0.
    static func append(
        _ devices: [DeviceOutcome], to sequence: Int64, hub: Int64, in database: Database
    ) throws {
        guard !devices.isEmpty else { return }
        let last = try database.first("SELECT max(ordinal) FROM device_outcome WHERE hub = ? AND sequence = ?", hub, sequence) { row in
            row.optional(0, row.integer)
        }
        var ordinal = (last ?? nil).map { $0 + 1 } ?? 0
        for device in devices {
            try database.run(
                """
                INSERT INTO device_outcome (hub, sequence, ordinal, registration, platform, handle_platform, handle, template,
                    outcome, reason, explanation, push_id, size, is_removed, installation)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, hub, sequence, ordinal, device.registrationID?.text, device.platform.rawValue,
                device.handle.platform.rawValue, device.handle.storedText, device.templateName, device.outcome.rawValue,
                device.reason, device.explanation, device.pushID, device.size, device.isRegistrationRemoved,
                device.installationID)
            ordinal += 1
        }
    }
}
