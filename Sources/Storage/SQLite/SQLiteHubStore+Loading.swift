import CMalloc
import GRDB
import PushModel

// Loading a hub into memory: one pass over each of its tables, row by row.
extension SQLiteHubStore {
    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader {
        try await database.read { [hub] database in
            var reader = reader
            try database.each("\(Self.selectInstallation) WHERE hub = ? ORDER BY place", hub) { row in
                try Self.read(.installations, row, Self.name(ofInstallation: row, hub), into: &reader) { reader in
                    try reader.add(try Self.installation(row))
                }
            }
            let end = try database.first("SELECT max(place) + 1 FROM registration WHERE hub = ?", hub) { $0.integer(0) } ?? 0
            reader.expect(registrationsBelow: UInt32(clamping: end))
            try Self.readRegistrations(of: hub, into: &reader, from: database)
            try database.each("SELECT id, time, reason, detail FROM departure WHERE hub = ?", hub) { row in
                try Self.read(.departures, nil, "the departure of \(row.text(0)) from hub \(hub)", into: &reader) { reader in
                    let reason = try RegistrationDeparture.Reason(stored: row.text(2), detail: row.text(3))
                    reader.add(RegistrationDeparture(reason, at: row.time(1)), of: try RegistrationID(stored: row.text(0)))
                }
            }
            // Only reports unreadable rows. The hub reads the others later, page by page.
            try database.each("\(HeldRemovalTable.selection) WHERE hub = ?", hub) { row in
                try Self.read(.heldRemovals, nil, "the held removal \(row.integer(0)) of hub \(hub)", into: &reader) { _ in
                    _ = try HeldRemovalTable.removal(row)
                }
            }
            reader.end(lastSequence: try Self.lastSequence(of: hub, in: database))
            // Temporary sort buffers amount to a sixth of the data that stays. Return them to the system.
            if end > Self.trimming { malloc_trim(0) }
            return reader
        }
    }

    /// Number of rows from which returning memory to the system pays off.
    private static let trimming = 50_000

    private static func readRegistrations(of hub: Int64, into reader: inout some StoredHubReader, from database: Database) throws {
        let outcomes = try LastOutcomes(of: hub, in: database)
        let templates = CompiledTemplates()
        var last: (text: String, platform: Platform)?
        try database.each(selectLoaded, hub) { row in
            try read(.registrations, row, name(ofRegistration: row, hub), into: &reader) { reader in
                let place = try row.place(0)
                let name = row.text(3)
                let platform = try last.flatMap { $0.text == name ? $0.platform : nil } ?? Platform(stored: name)
                last = (name, platform)
                if platform == .browser || platform == .baidu { _ = try DeviceHandle(platform: platform, stored: row.text(4)) }
                try reader.add(
                    StoredRegistration(
                        place: place, id: row.rawText(1), platform: platform, handle: row.rawText(4), tags: row.rawText(5),
                        templateKey: row.optional(6, row.integer),
                        pushVariables: try row.optional(7) { try row.json($0).storedTexts() } ?? [:],
                        installationID: row.optional(8, row.text), expiration: row.time(2)),
                    whole: { () throws(PushError) in try whole(place, templates, hub, database) })
                if let outcome = outcomes[place] { reader.add(outcome, at: place) }
            }
        }
    }

    /// The columns that a hub holds in memory. Other columns are not decoded.
    private static let selectLoaded = """
        SELECT place, id, expiration, platform, handle, tags, template, push_variables, installation
        FROM registration WHERE hub = ? ORDER BY place
        """

    /// Templates compiled during one pass, by row.
    private final class CompiledTemplates {
        var byKey: [Int64: RegistrationTemplate] = [:]
    }

    private static func whole(
        _ place: UInt32, _ templates: CompiledTemplates, _ hub: Int64, _ database: Database
    ) throws(PushError) -> Registration {
        var found: Registration?
        do {
            found = try database.first("\(selectRegistration) WHERE hub = ? AND place = ?", hub, place) { row in
                try reading(name(ofRegistration: row, hub)) {
                    try registration(row, try template(row, &templates.byKey, in: database))
                }
            }
        } catch let error as PushError {
            throw error
        } catch {
            throw StorageError.unavailable("the registration \(place) of hub \(hub) cannot be read: \(error)", hint: "try again")
        }
        guard let found else { throw StorageError.unavailable("the registration \(place) of hub \(hub) was deleted", hint: "try again") }
        return found
    }

    /// Adds a row to the reader, or reports it as unreadable.
    ///
    /// - Parameter placed: the row, if its first column is a row number; nil for other tables.
    private static func read<Reader: StoredHubReader>(
        _ table: UnreadableRow.Table, _ placed: SQLRow?, _ name: @autoclosure () -> String, into reader: inout Reader,
        _ add: (inout Reader) throws -> Void
    ) throws {
        do {
            try reading(name()) { try add(&reader) }
        } catch let error as PushError where error.code == "storage.corrupt" {
            reader.add(UnreadableRow(table: table, place: placed.flatMap { UInt32(exactly: $0.integer(0)) }, reason: error.message))
        }
    }
}
