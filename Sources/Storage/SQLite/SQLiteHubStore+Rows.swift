import GRDB
import PushModel

// Reading single rows, by row number.
extension SQLiteHubStore {
    func registrations(at places: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await database.read { [hub] database in
            var templates: [Int64: RegistrationTemplate] = [:]
            return try places.compactMap { place in
                try database.first("\(Self.selectRegistration) WHERE hub = ? AND place = ?", hub, place) { row in
                    try reading(Self.name(ofRegistration: row, hub)) {
                        RegistrationRow(
                            place: place, registration: try Self.registration(row, try Self.template(row, &templates, in: database)))
                    }
                }
            }
        }
    }

    func installations(at places: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await database.read { [hub] database in
            try places.compactMap { place in
                try database.first("\(Self.selectInstallation) WHERE hub = ? AND place = ?", hub, place) { row in
                    try reading(Self.name(ofInstallation: row, hub)) { try Self.installation(row) }
                }
            }
        }
    }

    func tags(behind place: UInt32?, limit: Int) async throws(PushError) -> [TagsRow] {
        try await database.read { [hub] database in
            try database.all(
                "SELECT place, tags FROM registration WHERE hub = ? AND place > ? ORDER BY place LIMIT ?", hub,
                place.map { Int64($0) } ?? -1, limit
            ) { row in
                TagsRow(place: try row.place(0), tags: row.text(1).split(separator: ",").compactMap { Tag(validating: String($0)) })
            }
        }
    }

    static let selectInstallation = "SELECT place, expiration, content FROM installation"

    static func name(ofInstallation row: SQLRow, _ hub: Int64) -> String { "the installation \(row.integer(0)) of hub \(hub)" }

    static func installation(_ row: SQLRow) throws -> InstallationRow {
        InstallationRow(place: try row.place(0), installation: try Installation(stored: row.json(2)), expiration: row.time(1))
    }

    static let selectRegistration = """
        SELECT place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation,
            secondary_tile
        FROM registration
        """

    static func name(ofRegistration row: SQLRow, _ hub: Int64) -> String { "the registration \(row.text(1)) of hub \(hub)" }

    static func registration(_ row: SQLRow, _ template: RegistrationTemplate?) throws -> Registration {
        Registration(
            id: try RegistrationID(stored: row.text(1)), etag: Int(row.integer(2)), expiration: row.time(3), updatedAt: row.time(4),
            handle: try DeviceHandle(platform: Platform(stored: row.text(5)), stored: row.text(6)),
            tags: try row.text(7).split(separator: ",").map { try Tag(stored: String($0)) }, template: template,
            pushVariables: try row.optional(9) { try row.json($0).storedTexts() } ?? [:],
            installationID: row.optional(10, row.text), secondaryTile: row.optional(11, row.text))
    }

    /// The template of a registration.
    ///
    /// - Parameter templates: templates compiled so far, by key.
    static func template(
        _ row: SQLRow, _ templates: inout [Int64: RegistrationTemplate], in database: Database
    ) throws -> RegistrationTemplate? {
        guard let key = row.optional(8, row.integer) else { return nil }
        let template = try templates[key] ?? Self.template(key, in: database)
        templates[key] = template
        return template
    }

    private static func template(_ key: Int64, in database: Database) throws -> RegistrationTemplate {
        let template = try database.first("SELECT content FROM template WHERE key = ?", key) { row in
            try reading("the template \(key)") { try RegistrationTemplate(stored: row.json(0)) }
        }
        guard let template else { throw UnreadableValue(reason: "there is no template \(key)") }
        return template
    }
}
