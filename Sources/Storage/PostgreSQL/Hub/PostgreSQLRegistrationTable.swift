import Crypto
import PushModel

/// The registrations of a hub in a database, by row. Registrations with the same template share its row.
struct PostgreSQLRegistrationTable {
    let hub: Int64
    let database: PostgreSQLConnection

    /// Number of rows that are read at a time.
    static let page = 5000

    // MARK: - Changes

    /// The content of a row before a change, as far as changes need it.
    struct Stored {
        let id: String
        let template: Int64?
    }

    /// The content of rows before a change.
    func stored(at rows: [UInt32]) throws -> [UInt32: Stored] {
        if rows.isEmpty { return [:] }
        let found = try database.all(
            "SELECT place, id, template FROM registration WHERE hub = $1 AND place = ANY($2)", hub, PostgreSQLArray(rows)
        ) { (try $0.rowNumber(0), Stored(id: $0.text(1), template: $0.optional(2, $0.integer))) }
        return Dictionary(found) { $1 }
    }

    func remove(_ rows: [UInt32]) {
        if rows.isEmpty { return }
        database.later("DELETE FROM registration WHERE hub = $1 AND place = ANY($2)", hub, PostgreSQLArray(rows))
    }

    /// Stores registrations; each replaces the content of its row, and a row elsewhere that has the same id.
    ///
    /// - Parameters:
    ///   - stored: what is in these rows.
    ///   - templates: the keys of the templates, in the order of the registrations.
    func put(_ puts: [RegistrationRow], templates: [Int64?], over stored: [UInt32: Stored]) throws {
        if puts.isEmpty { return }
        let moved = puts.filter { stored[$0.row]?.id != $0.registration.id.text }
        if !moved.isEmpty {
            database.later(
                "DELETE FROM registration WHERE hub = $1 AND (place = ANY($2) OR id = ANY($3))", hub, PostgreSQLArray(moved.map(\.row)),
                PostgreSQLArray(moved.map(\.registration.id.text)))
            try PostgreSQLLastOutcomes(hub: hub, database: database).clear(moved.map(\.row))
        }
        func column<Value: PostgreSQLValue>(_ value: (Registration) -> Value) -> PostgreSQLArray<Value> {
            PostgreSQLArray(puts.map { value($0.registration) })
        }
        database.later(
            """
            INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables,
                installation, secondary_tile)
            SELECT $1, * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            ON CONFLICT (hub, place) DO UPDATE SET etag = excluded.etag, expiration = excluded.expiration,
                updated_at = excluded.updated_at, platform = excluded.platform, handle = excluded.handle, tags = excluded.tags,
                template = excluded.template, push_variables = excluded.push_variables, installation = excluded.installation,
                secondary_tile = excluded.secondary_tile
            """, hub, PostgreSQLArray(puts.map(\.row)), column(\.id.text), column(\.etag), column(\.expiration.milliseconds),
            column(\.updatedAt.milliseconds), column(\.platform.rawValue), column(\.handle.storedText),
            column { RegistrationColumns.tags(of: $0) }, PostgreSQLArray(templates), column { RegistrationColumns.pushVariables(of: $0) },
            column(\.installationID), column(\.secondaryTile))
    }

    // MARK: - Templates

    /// The keys of the templates of registrations, in their order. Missing rows are inserted; the others cannot be deleted until the
    /// transaction ends.
    func templateKeys(of puts: [RegistrationRow]) throws -> [Int64?] {
        var contents: [[UInt8]: String] = [:]
        let digests = puts.map { put -> [UInt8]? in
            guard let content = put.registration.template?.storedJSON.text() else { return nil }
            let digest = Array(SHA256.hash(data: Array(content.utf8)))
            contents[digest] = content
            return digest
        }
        if contents.isEmpty { return digests.map { _ in nil } }
        var keys: [[UInt8]: Int64] = [:]
        try database.each(
            "SELECT digest, key FROM template WHERE hub = $1 AND digest = ANY($2) ORDER BY key FOR SHARE", hub,
            PostgreSQLArray(contents.keys)
        ) { keys[$0.bytes(0)] = $0.integer(1) }
        let missing = contents.filter { keys[$0.key] == nil }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        if !missing.isEmpty {
            for (key, template) in zip(try database.next("template", hub: hub, count: missing.count), missing) {
                database.later(
                    "INSERT INTO template (hub, key, digest, content) VALUES ($1, $2, $3, $4)", hub, key, template.key, template.value)
                keys[template.key] = key
            }
        }
        return digests.map { $0.flatMap { keys[$0] } }
    }

    /// Removes templates that no registration uses any more.
    func removeUnused(_ keys: Set<Int64>) throws {
        if keys.isEmpty { return }
        try database.run(
            """
            DELETE FROM template WHERE hub = $1 AND key = ANY($2)
                AND NOT EXISTS (SELECT 1 FROM registration WHERE registration.hub = $1 AND registration.template = template.key)
            """, hub, PostgreSQLArray(keys.sorted()))
    }

    // MARK: - Reading rows

    /// The registrations in these rows, in the requested order. Empty rows are skipped.
    func registrations(at rows: [UInt32]) throws -> [RegistrationRow] {
        let templates = CompiledTemplates()
        var found: [UInt32: Registration] = [:]
        let stored = try database.all(
            "SELECT \(RegistrationColumns.names) FROM registration WHERE hub = $1 AND place = ANY($2)", hub, PostgreSQLArray(rows)
        ) { $0 }
        for row in stored {
            found[try row.rowNumber(0)] = try reading(name(of: row)) {
                try RegistrationColumns.registration(row, try template(row, templates))
            }
        }
        return rows.compactMap { rowNumber in found[rowNumber].map { RegistrationRow(row: rowNumber, registration: $0) } }
    }

    /// The tags of at most `limit` registrations, in row order: those after a row, or from the first if nil.
    func tags(after rowNumber: UInt32?, limit: Int) throws -> [TagsRow] {
        try database.all(
            "SELECT place, tags FROM registration WHERE hub = $1 AND place > $2 ORDER BY place LIMIT $3", hub,
            rowNumber.map { Int64($0) } ?? -1, limit
        ) { TagsRow(row: try $0.rowNumber(0), tags: RegistrationColumns.validTags($0.text(1))) }
    }

    private func name(of row: PostgreSQLRow) -> String { "the registration \(row.text(1)) of hub \(hub)" }

    private func template(_ row: PostgreSQLRow, _ templates: CompiledTemplates) throws -> RegistrationTemplate? {
        guard let key = row.optional(8, row.integer) else { return nil }
        if let template = templates.byKey[key] { return template }
        let template = try database.first("SELECT content FROM template WHERE hub = $1 AND key = $2", hub, key) { row in
            try reading("the template \(key) of hub \(hub)") { try RegistrationTemplate(stored: row.json(0)) }
        }
        guard let template else { throw UnreadableValue(reason: "there is no template \(key)") }
        templates.byKey[key] = template
        return template
    }

    /// Templates compiled during one pass, by key.
    private final class CompiledTemplates {
        var byKey: [Int64: RegistrationTemplate] = [:]
    }

    // MARK: - Loading

    /// The number after that of the last row; 0 if the hub is empty.
    func end() throws -> Int64 {
        try database.first("SELECT place + 1 FROM registration WHERE hub = $1 ORDER BY place DESC LIMIT 1", hub) { $0.integer(0) } ?? 0
    }

    /// Passes all registrations to a reader, in row order, in pages.
    func read(into reader: inout some StoredHubReader) throws {
        let outcome = try PostgreSQLLastOutcomes(hub: hub, database: database).outcome()
        let templates = CompiledTemplates()
        var last: Int64 = .min
        while true {
            let rows = try database.all(
                """
                SELECT \(RegistrationColumns.names) FROM registration WHERE hub = $1 AND place > $2 ORDER BY place LIMIT $3
                """, hub, last, Self.page
            ) { $0 }
            for row in rows {
                try reader.add(name(of: row), of: .registrations, at: row.integer(0)) { try add(row, templates, outcome, to: &$0) }
            }
            guard rows.count == Self.page, let end = rows.last else { return }
            last = end.integer(0)
        }
    }

    private func add(
        _ row: PostgreSQLRow, _ templates: CompiledTemplates, _ outcome: (UInt32) -> OutcomeName?, to reader: inout some StoredHubReader
    ) throws {
        let rowNumber = try row.rowNumber(0)
        let platform = try Platform(stored: row.text(5))
        if platform == .browser || platform == .baidu { _ = try DeviceHandle(platform: platform, stored: row.text(6)) }
        let variables = try row.optional(9) { try row.json($0).storedTexts() } ?? [:]
        try row.withText(1) { id in
            try row.withText(6) { handle in
                try row.withText(7) { tags in
                    try reader.add(
                        StoredRegistration(
                            row: rowNumber, id: id, handle: StoredHandle(platform: platform, text: handle), tags: tags,
                            templateKey: row.optional(8, row.integer), pushVariables: variables, installationID: row.optional(10, row.text),
                            expiration: row.time(3)),
                        fullRegistration: { () throws(PushError) in try full(row, templates) })
                }
            }
        }
        if let outcome = outcome(rowNumber) { reader.add(outcome, at: rowNumber) }
    }

    private func full(_ row: PostgreSQLRow, _ templates: CompiledTemplates) throws(PushError) -> Registration {
        do {
            return try reading(name(of: row)) { try RegistrationColumns.registration(row, try template(row, templates)) }
        } catch let error as PushError {
            throw error
        } catch {
            throw StorageError.unavailable("\(name(of: row)) cannot be read: \(error)", hint: "try again")
        }
    }
}
