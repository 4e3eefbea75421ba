import GRDB
import PushModel

/// The registrations of a hub in a database, by row. Registrations with the same template share its row.
struct SQLiteRegistrationTable {
    let hub: Int64
    let database: Database

    // MARK: - Changes

    /// - Parameter template: key of its template.
    func put(_ put: RegistrationRow, template: Int64?) throws {
        let registration = put.registration
        try LastOutcomes.clear(put.row, unlessOf: registration.id, hub: hub, in: database)
        try SQLiteTombstoneTable(hub: hub, database: database).remove(registration.id)
        // REPLACE also deletes a row that has the same id.
        try database.run(
            """
            INSERT OR REPLACE INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template,
                push_variables, installation, secondary_tile) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, hub, put.row, registration.id.text, registration.etag, registration.expiration.milliseconds,
            registration.updatedAt.milliseconds, registration.platform.rawValue, registration.handle.storedText,
            RegistrationColumns.tags(of: registration), template, RegistrationColumns.pushVariables(of: registration),
            registration.installationID,
            registration.secondaryTile)
    }

    func remove(_ rowNumber: UInt32) throws {
        try database.run("DELETE FROM registration WHERE hub = ? AND place = ?", hub, rowNumber)
        try LastOutcomes.clear(rowNumber, hub: hub, in: database)
    }

    /// The template key of the registration in a row.
    func templateKey(at rowNumber: UInt32) throws -> Int64? {
        try database.first(
            "SELECT template FROM registration WHERE hub = ? AND place = ? AND template IS NOT NULL", hub, rowNumber
        ) { $0.integer(0) }
    }

    // MARK: - Reading rows

    /// The registrations in these rows. Empty rows are skipped.
    func registrations(at rows: [UInt32]) throws -> [RegistrationRow] {
        var templates: [Int64: RegistrationTemplate] = [:]
        return try rows.compactMap { rowNumber in
            try registration(at: rowNumber, &templates).map { RegistrationRow(row: rowNumber, registration: $0) }
        }
    }

    /// The tags of at most `limit` registrations, in row order: those after a row, or from the first if nil.
    func tags(after rowNumber: UInt32?, limit: Int) throws -> [TagsRow] {
        try database.all(
            "SELECT place, tags FROM registration WHERE hub = ? AND place > ? ORDER BY place LIMIT ?", hub,
            rowNumber.map { Int64($0) } ?? -1, limit
        ) { row in
            TagsRow(row: try row.rowNumber(0), tags: RegistrationColumns.validTags(row.text(1)))
        }
    }

    /// The registration in a row; nil if the row is empty.
    ///
    /// - Parameter templates: templates compiled so far, by key.
    private func registration(at rowNumber: UInt32, _ templates: inout [Int64: RegistrationTemplate]) throws -> Registration? {
        try database.first(
            """
            SELECT \(RegistrationColumns.names) FROM registration WHERE hub = ? AND place = ?
            """, hub, rowNumber
        ) { row in try reading(name(of: row)) { try RegistrationColumns.registration(row, try template(row, &templates)) } }
    }

    private func name(of row: SQLiteRow) -> String { "the registration \(row.text(1)) of hub \(hub)" }

    private func template(_ row: SQLiteRow, _ templates: inout [Int64: RegistrationTemplate]) throws -> RegistrationTemplate? {
        guard let key = row.optional(8, row.integer) else { return nil }
        let template = try templates[key] ?? template(key)
        templates[key] = template
        return template
    }

    private func template(_ key: Int64) throws -> RegistrationTemplate {
        let template = try database.first("SELECT content FROM template WHERE key = ?", key) { row in
            try reading("the template \(key)") { try RegistrationTemplate(stored: row.json(0)) }
        }
        guard let template else { throw UnreadableValue(reason: "there is no template \(key)") }
        return template
    }

    // MARK: - Loading

    /// The number after that of the last row; 0 if the hub is empty.
    func end() throws -> Int64 {
        try database.first("SELECT max(place) + 1 FROM registration WHERE hub = ?", hub) { $0.integer(0) } ?? 0
    }

    /// Passes all registrations to a reader, in row order.
    func read(into reader: inout some StoredHubReader) throws {
        let outcomes = try LastOutcomes(of: hub, in: database)
        let templates = CompiledTemplates()
        var last: (text: String, platform: Platform)?
        try database.each(Self.selectLoaded, hub) { row in
            try reader.add(name(of: row), of: .registrations, at: row.integer(0)) { reader in
                let rowNumber = try row.rowNumber(0)
                let name = row.text(3)
                let platform = try last.flatMap { $0.text == name ? $0.platform : nil } ?? Platform(stored: name)
                last = (name, platform)
                if platform == .browser || platform == .baidu { _ = try DeviceHandle(platform: platform, stored: row.text(4)) }
                try reader.add(
                    StoredRegistration(
                        row: rowNumber, id: row.rawText(1), handle: StoredHandle(platform: platform, text: row.rawText(4)),
                        tags: row.rawText(5), templateKey: row.optional(6, row.integer),
                        pushVariables: try row.optional(7) { try row.json($0).storedTexts() } ?? [:],
                        installationID: row.optional(8, row.text), expiration: row.time(2)),
                    fullRegistration: { () throws(PushError) in try fullRegistration(rowNumber, templates) })
                if let outcome = outcomes[rowNumber] { reader.add(outcome, at: rowNumber) }
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

    private func fullRegistration(_ rowNumber: UInt32, _ templates: CompiledTemplates) throws(PushError) -> Registration {
        var found: Registration?
        do {
            found = try registration(at: rowNumber, &templates.byKey)
        } catch let error as PushError {
            throw error
        } catch {
            throw StorageError.unavailable("the registration \(rowNumber) of hub \(hub) cannot be read: \(error)", hint: "try again")
        }
        guard let found else {
            throw StorageError.unavailable("the registration \(rowNumber) of hub \(hub) was deleted", hint: "try again")
        }
        return found
    }
}
