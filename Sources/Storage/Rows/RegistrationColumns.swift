import PushModel

/// The columns of a stored registration. Its template has a row of its own.
enum RegistrationColumns {
    static let names = """
        place, id, etag, expiration, updated_at, platform, handle, tags, template, push_variables, installation, secondary_tile
        """

    /// - Parameter row: has the columns `names`.
    static func registration(_ row: some SQLRow, _ template: RegistrationTemplate?) throws -> Registration {
        Registration(
            id: try RegistrationID(stored: row.text(1)), etag: Int(row.integer(2)), expiration: row.time(3), updatedAt: row.time(4),
            description: RegistrationDescription(
                handle: try DeviceHandle(platform: Platform(stored: row.text(5)), stored: row.text(6)),
                tags: try row.text(7).split(separator: ",").map { try Tag(stored: String($0)) }, template: template,
                pushVariables: try row.optional(9) { try row.json($0).storedTexts() } ?? [:], secondaryTile: row.optional(11, row.text)),
            installationID: row.optional(10, row.text))
    }

    static func tags(of registration: Registration) -> String { registration.tags.lazy.map(\.text).joined(separator: ",") }

    /// The valid ones of stored tags.
    static func validTags(_ text: String) -> [Tag] { text.split(separator: ",").compactMap { Tag(validating: String($0)) } }

    /// Nil if there are none.
    static func pushVariables(of registration: Registration) -> String? {
        registration.pushVariables.isEmpty ? nil : JSON(registration.pushVariables).text()
    }
}
