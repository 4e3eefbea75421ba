import GRDB
import PushModel

/// The data of one hub in a database.
struct SQLiteHubStore: RegistrationStore {
    let database: SQLiteAccess
    let hub: Int64

    // MARK: - Changes

    func commit(_ change: RegistrationChange) async throws(PushError) {
        let installations = change.installationPuts.map { $0.installation.storedJSON.text() }
        let pruned = change.pruned.map { $0.storedContent.text() }
        try await database.write { [hub, templates = database.templates] database in
            var left: Set<Int64> = []
            for removal in change.removals {
                if let key = try Self.templateKey(at: removal.place, hub: hub, in: database) { left.insert(key) }
                try Self.recordDeparture(removal, hub: hub, in: database)
                try database.run("DELETE FROM registration WHERE hub = ? AND place = ?", hub, removal.place)
                try LastOutcomes.clear(removal.place, hub: hub, in: database)
            }
            for place in change.installationRemovals {
                try database.run("DELETE FROM installation WHERE hub = ? AND place = ?", hub, place)
            }
            for (device, content) in zip(change.pruned, pruned) { try Self.insertPrunedDevice(device, content, hub: hub, in: database) }
            try Self.restorePrunedDevices(change.restored, at: change.restoredAt, hub: hub, in: database)
            try HeldRemovalTable.delete(of: change.settledRemovals, hub: hub, in: database)
            for put in change.puts {
                let before = try Self.templateKey(at: put.place, hub: hub, in: database)
                let key = try put.registration.template.map { try templates.key(of: $0, in: database) }
                if let before, before != key { left.insert(before) }
                try Self.put(put, template: key, hub: hub, in: database)
            }
            // After the puts, because another registration may use the same template.
            for key in left { try templates.removeUnused(key, in: database) }
            for (put, content) in zip(change.installationPuts, installations) {
                try database.run(
                    "INSERT OR REPLACE INTO installation (hub, place, expiration, content) VALUES (?, ?, ?, ?)", hub, put.place,
                    put.expiration.milliseconds, content)
            }
            try SQLiteRunStore.keep(change.events, in: database)
        }
    }

    /// The template key of the registration in a row.
    private static func templateKey(at place: UInt32, hub: Int64, in database: Database) throws -> Int64? {
        try database.first(
            "SELECT template FROM registration WHERE hub = ? AND place = ? AND template IS NOT NULL", hub, place
        ) { $0.integer(0) }
    }

    /// - Parameter template: key of its template.
    private static func put(_ put: RegistrationRow, template: Int64?, hub: Int64, in database: Database) throws {
        let registration = put.registration
        try LastOutcomes.clear(put.place, unlessOf: registration.id, hub: hub, in: database)
        try database.run("DELETE FROM departure WHERE hub = ? AND id = ?", hub, registration.id.text)
        // REPLACE also deletes a row that has the same id.
        try database.run(
            """
            INSERT OR REPLACE INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template,
                push_variables, installation, secondary_tile) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, hub, put.place, registration.id.text, registration.etag, registration.expiration.milliseconds,
            registration.updatedAt.milliseconds, registration.platform.rawValue, registration.handle.storedText,
            registration.tags.lazy.map(\.text).joined(separator: ","), template,
            registration.pushVariables.isEmpty ? nil : JSON(registration.pushVariables).text(), registration.installationID,
            registration.secondaryTile)
    }

    /// Records a removal with details from the registration's row, if it still exists.
    private static func recordDeparture(_ removal: RemovedRegistration, hub: Int64, in database: Database) throws {
        let (time, reason) = (removal.departure.time.milliseconds, removal.departure.reason)
        try database.run(
            """
            INSERT OR REPLACE INTO departure (hub, id, time, reason, detail, platform, handle, expiration, installation)
            SELECT ?1, ?2, ?3, ?4, ?5, platform, handle, expiration, installation
            FROM (SELECT 1) LEFT JOIN registration ON hub = ?1 AND place = ?6
            """, hub, removal.id.text, time, reason.storedText, reason.detail, removal.place)
    }

    func departed(_ subject: DepartedSubject, limit: Int) async throws(PushError) -> [DepartedRegistration] {
        try await database.read { [hub] database in
            func all(_ condition: String, _ key: String) throws -> [DepartedRegistration] {
                try database.all(
                    """
                    SELECT id, time, reason, detail, platform, handle, expiration, installation FROM departure
                    WHERE hub = ?1 AND handle IS NOT NULL AND \(condition) ORDER BY time DESC, id LIMIT ?3
                    """, hub, key, limit, read: Self.departed)
            }
            switch subject {
            case .installation(let id): return try all("installation = ?2", id)
            case .registration(let id): return try all("id = ?2", id.text)
            case .handle(let handle):
                // Handles of different platforms may have the same text.
                return try all("handle = ?2", handle.storedText).filter { $0.handle == handle }
            }
        }
    }

    private static func departed(_ row: SQLRow) throws -> DepartedRegistration {
        try reading("the departure of the registration \(row.text(0))") {
            DepartedRegistration(
                id: try RegistrationID(stored: row.text(0)),
                departure: RegistrationDeparture(
                    try RegistrationDeparture.Reason(stored: row.text(2), detail: row.optional(3, row.text) ?? ""), at: row.time(1)),
                handle: try DeviceHandle(platform: Platform(stored: row.text(4)), stored: row.text(5)), expiration: row.time(6),
                installationID: row.optional(7, row.text))
        }
    }

    func forgetDepartures(before moment: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { [hub] database in
            let before = database.totalChangesCount
            try database.run(
                """
                DELETE FROM departure WHERE (hub, id) IN
                    (SELECT hub, id FROM departure WHERE hub = ? AND time < ? ORDER BY time LIMIT ?)
                """, hub, moment.milliseconds, limit)
            return database.totalChangesCount - before
        }
    }
}

extension RegistrationDeparture.Reason {
    fileprivate var storedText: String {
        switch self {
        case .deleted: "deleted"
        case .expired: "expired"
        case .handleDied: "handleDied"
        case .installationChanged: "installationChanged"
        }
    }

    fileprivate var detail: String? {
        if case .handleDied(let reason) = self { reason } else { nil }
    }

    init(stored text: String, detail: String) throws {
        switch text {
        case "deleted": self = .deleted
        case "expired": self = .expired
        case "handleDied": self = .handleDied(detail)
        case "installationChanged": self = .installationChanged
        default: throw UnreadableValue(reason: "unknown reason \"\(text)\"")
        }
    }
}
